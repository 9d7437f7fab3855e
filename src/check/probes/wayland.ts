/** The requirements of Wayland Core's json-stream protocol beyond those of the protocol that it builds on, as a host sees them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Probes } from "../grade/probes.js";
import type { Scene } from "../grade/scene.js";
import { StreamHost } from "./json-stream.js";
import { asked, at, is, textAt } from "./records.js";

const DONE = { text: ["done"] };

function open(scene: Scene): Promise<StreamHost> {
  return StreamHost.open(scene, "content");
}

export const probes: Probes = {
  async meet(scene) {
    await open(scene);
  },
  charge: (rec) => (textAt(rec, "type") === "ready" ? "D34" : "D39"),
  plays: {
    async D34(scene) {
      const { conversation } = await open(scene);
      const [ready] = conversation.all(is("ready"));
      const off = Object.entries(at(ready, "capabilities") ?? {}).find(([name, value]) => SWITCHES.includes(name) && value !== true);
      conversation.expect(off === undefined, `ready without ${off?.[0] ?? ""}, which is off`, ready);
    },
    async D35(scene) {
      for (const mode of ["force", "yolo"]) {
        const file = `${mode}.txt`;
        scene.model.script(`check-${mode}`, [{ wants: [{ kind: "write", path: file, content: "written\n" }] }, DONE]);
        const host = await open(scene);
        host.mode(mode);
        host.message("m1", `check-${mode}`);
        await host.endsUnasked("m1", 0, `no request in the mode ${mode}`);
        host.conversation.expect(existsSync(join(scene.folder, file)), "the file that the call writes");
      }
    },
    async D37(scene) {
      scene.model.script("check-ping", [{ wants: [{ kind: "write", path: "a.txt", content: "written\n" }] }, DONE]);
      const host = await open(scene);
      host.conversation.say({ type: "ping" });
      await host.conversation.next("pong", is("pong"));
      host.message("m1", "check-ping");
      const request = await host.request();
      host.conversation.say({ type: "ping" });
      await host.conversation.next("pong in a turn", is("pong"), 2);
      host.answer(request, "deny");
      await host.end("m1");
    },
    async D38(scene) {
      scene.model.script("check-model", [DONE]);
      const host = await open(scene);
      host.conversation.say({ type: "set_config", model: "graded-model-2" });
      host.message("m1", "check-model");
      const end = await host.end("m1");
      const isNamed = asked(scene, "check-model").at(-1)?.includes("graded-model-2") === true;
      host.conversation.expect(isNamed, "the changed model in the next request", end);
    },
    async D39(scene) {
      scene.model.script("check-content", [{ text: ["Hel", "lo"] }]);
      const host = await open(scene);
      host.message("m1", "check-content");
      const end = await host.end("m1");
      await host.conversation.end();
      host.wholeStream("m1");
      host.conversation.expect(host.textOf("m1") === "Hello", 'the model\'s "Hello" in the text of message m1', end);
    },
  },
};

/** Capabilities that are off unless somebody switches them on. */
const SWITCHES: readonly string[] = ["streaming_tools", "sub_agent_traces"];
