# A host in Python, with nothing but its standard library: the native dialect is a JSON object a line.
import json
import subprocess
import sys

prompt = sys.argv[1] if len(sys.argv) > 1 else "say hello"
agent = subprocess.Popen(
    ["node", "dist/parley.js", "serve", "--dialect", "native", "--provider", "rehearsal"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
)


def send(**op):
    agent.stdin.write(json.dumps(op) + "\n")
    agent.stdin.flush()


send(type="session.open", session="s", open="new")
send(type="turn.prompt", session="s", parts=[{"type": "text", "text": prompt}])
for line in agent.stdout:
    event = json.loads(line)
    if event["type"] == "text.delta":
        print(event["text"], end="", flush=True)
    elif event["type"] == "approval.requested":
        for call in event["calls"]:
            allowed = call["category"] == "edit"
            print(f"\n{'allowed' if allowed else 'denied'}: {call['title']}")
            send(type="approval.answer", session="s", answers=[{"call": call["id"], "decision": "allow" if allowed else "deny"}])
    elif event["type"] == "turn.ended":
        print(f"\n({event['outcome']})")
        send(type="shutdown", when="now")
agent.wait()
