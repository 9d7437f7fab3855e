/**
 * Options in front of a subcommand: `git -C . push` is `git push`, and `kubectl -n p delete pod x` is `kubectl delete pod x`. For deny and
 * ask rules only: an allow rule is compared with the command as it is written.
 */
import type { ShellCommand } from "./shell.js";

/** By program: the options that take a value in the next word. All other options take none. */
const VALUED: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (
    [
      ["git", "-C -c --config-env --git-dir --work-tree --namespace --super-prefix --attr-source"],
      [
        "kubectl oc",
        "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --as-uid --certificate-authority " +
          "--client-certificate --client-key --request-timeout --tls-server-name --cache-dir --profile --profile-output -v --vmodule " +
          "-l --selector -o --output -f --filename -k --kustomize --field-selector --grace-period --timeout",
      ],
      [
        "docker podman nerdctl",
        "-c --context -H --host -l --log-level --config --tlscacert --tlscert --tlskey -f --file -p --project-name --env-file --profile --project-directory --ansi --parallel --progress",
      ],
      [
        "docker-compose podman-compose",
        "-f --file -p --project-name --env-file --profile --project-directory -c --context -H --host --ansi --parallel",
      ],
      [
        "npm pnpm yarn bun",
        "--prefix -C --dir --cwd --registry --loglevel --userconfig --globalconfig --cache -w --workspace --filter -F --tag --otp --access --scope",
      ],
      ["cargo", "--color --config -Z -C --manifest-path --target-dir -p --package -j --jobs --target --profile --features -F"],
      [
        "aws",
        "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout --cli-binary-format",
      ],
      [
        "gcloud",
        "--project --account --configuration --format --verbosity --billing-project --impersonate-service-account --zone --region",
      ],
      ["az", "--subscription -o --output --query -g --resource-group -n --name"],
      ["gh glab", "-R --repo --hostname"],
      [
        "helm",
        "-n --namespace --kube-context --kubeconfig --kube-token --kube-apiserver --registry-config --repository-config --repository-cache",
      ],
      ["terraform tofu", "-chdir"],
      [
        "systemctl journalctl loginctl",
        "-H --host -M --machine -t --type -p --property -n --lines -o --output -s --signal --state --root --job-mode",
      ],
      ["apt apt-get aptitude", "-o --option -c --config-file -t --target-release -a --host-architecture"],
      ["dnf yum microdnf", "-c --config --setopt --enablerepo --disablerepo --repo --releasever --installroot -x --exclude -d -e"],
      [
        "pip pip3",
        "--log --proxy --retries --timeout --exists-action --trusted-host --cert --client-cert --cache-dir --python --index-url -i --extra-index-url",
      ],
      ["uv poetry pdm hatch", "--directory -C --project -P --config-file --cache-dir --python -p --color --env -e"],
      ["go", "-C"],
      ["svn", "--username --password --config-dir --config-option"],
      ["hg", "-R --repository --cwd --config --encoding --encodingmode --color --pager"],
      ["ip", "-n -netns -netns -f -family -l -loops -rc -rcvbuf"],
      ["tmux", "-L -S -f -c -T"],
      ["composer", "-d --working-dir"],
      ["gem bundle", "--gemfile --config-file"],
      ["heroku flyctl", "--remote -r --app -a --config -c"],
      ["brew", "--appdir"],
    ] as const
  ).flatMap(([programs, options]) => programs.split(" ").map((program) => [program, new Set<string>(options.split(" "))] as const)),
);

/** The command without its first options, or with them behind the subcommand. */
export interface Reading {
  words: string[];
  /** The number of first words that are certain. */
  fixed: number;
  /** An option of an unknown program may take a value or not. */
  unsure: boolean;
}

/** With more options, or more copies of the words, no subcommand is looked for: it counts as possible. */
const MAX_SKIPPED = 64;
const MAX_COPIED = 20_000;

/**
 * The command as deny and ask rules on the subcommand `wanted` see it, besides its written form; `maybe` if a value could be that
 * subcommand. `partial`: the rule also names the beginning of the next word.
 */
export function readings(
  name: string,
  command: ShellCommand,
  { words: wanted, partial }: { words: readonly string[]; partial: boolean },
): { found: Reading[]; maybe: boolean } {
  const { args, kinds } = command;
  const valued = VALUED.get(name);
  const found: Reading[] = [];
  let maybe = false;
  let copied = 0;
  const seen = new Set<string>();
  const waiting: { at: number; matched: number; skipped: readonly number[]; unsure: boolean }[] = [
    { at: 0, matched: 0, skipped: [], unsure: false },
  ];
  for (const state of waiting) {
    const { at, matched, skipped, unsure } = state;
    const key = `${at} ${matched} ${String(unsure)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const word = args[at];
    if (matched === wanted.length && skipped.length > 0 && (!partial || !/^-./.test(word ?? ""))) report(state);
    if (copied > MAX_COPIED) return { found, maybe: true };
    if (word === undefined || (matched === wanted.length && !partial)) continue;
    const next = (width: number, doubt = unsure): void => {
      const over = Array.from({ length: Math.min(width, args.length - at) }, (_, step) => at + step);
      if (skipped.length >= MAX_SKIPPED) maybe = true;
      else waiting.push({ at: at + width, matched, skipped: [...skipped, ...over], unsure: doubt });
    };
    if (kinds[at] !== "literal") maybe ||= skipped.length > 0 && matched < wanted.length;
    else if (/^-./.test(word) || (word.startsWith("+") && name === "cargo")) {
      const takes = valued?.has(word) === true && kinds[at + 1] !== undefined;
      if (takes && kinds[at + 1] === "several") maybe = true;
      if (valued !== undefined) {
        next(takes ? 2 : 1);
        // The word may be an option that this table does not have.
        if (!takes && word.startsWith("--") && !word.includes("=") && name !== "git") next(2, true);
      } else {
        next(1, true);
        if (!word.includes("=")) next(2, true);
      }
    } else if (matched < wanted.length && word === wanted[matched]) waiting.push({ at: at + 1, matched: matched + 1, skipped, unsure });
  }
  return { found, maybe };

  function report({ at, skipped, unsure }: (typeof waiting)[number]): void {
    copied += 2 * args.length;
    for (const order of [args.map((_, index) => index).slice(at), [...skipped, ...args.map((_, index) => index).slice(at)]]) {
      const certain = order.findIndex((index) => kinds[index] !== "literal");
      const words = [name, ...wanted, ...order.map((index) => args[index] ?? "")];
      found.push({ words, fixed: wanted.length + (certain < 0 ? order.length : certain), unsure });
    }
  }
}
