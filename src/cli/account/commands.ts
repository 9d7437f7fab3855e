/** The commands about providers: their keys and their models, as data. */
import type { Command } from "../command-line/commands.js";
import { commandSettings } from "../command-line/command-settings.js";
import { sharedFlags } from "../command-line/flags.js";

/** The flags that say where a provider is. */
const PROVIDER_FLAGS = sharedFlags("base-url", "api-key");

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    name: "login",
    usage: "parley login PROVIDER [--keyring]",
    summary: "Keeps the key of a provider, for every later run.",
    details:
      "At a terminal the key is asked for and not shown; elsewhere it is read from stdin. It is kept in the file credentials of PARLEY_HOME, which only you can read, " +
      "or with --keyring in the system's keyring. --api-key and the provider's variable count before it.",
    positionals: 1,
    flags: [{ name: "keyring", help: "keep it in the system's keyring: secret-tool on Linux, security on macOS" }],
    async run(parsed) {
      const { login } = await import("./login.js");
      return login(parsed, process.env);
    },
  },
  {
    name: "logout",
    usage: "parley logout PROVIDER",
    summary: "Forgets the key that 'parley login' keeps.",
    positionals: 1,
    flags: [],
    async run(parsed) {
      const { logout } = await import("./login.js");
      return logout(parsed, process.env);
    },
  },
  {
    name: "models",
    usage: "parley models [PROVIDER] [flags]",
    summary: "Lists models: how much they hold and write, whether they think and see images, and what they cost where that is known.",
    details: "A provider whose key is there is asked for its list; without one the models that are known by their names are shown.",
    positionals: 1,
    flags: [{ name: "json", help: "for programs: one JSON object a line" }, ...PROVIDER_FLAGS],
    async run(parsed) {
      const { models } = await import("./models.js");
      // The address and the key of the command line belong to the provider that is named.
      const [provider] = parsed.positionals;
      return models(parsed, await commandSettings(parsed, provider === undefined ? {} : { provider }), process.env);
    },
  },
];
