/** The commands that begin with `mcp`, as data. */
import type { Command } from "../command-line/commands.js";
import { commandSettings } from "../command-line/command-settings.js";
import { sharedFlags, usage } from "../command-line/flags.js";

const PLACE_FLAGS = sharedFlags("workspace", "trust-workspace");

export const MCP_COMMANDS: readonly Command[] = [
  {
    name: "mcp",
    usage: "parley mcp add | list | remove | login",
    summary: "The MCP servers whose tools the agent has.",
    positionals: 1,
    flags: [],
    async run({ positionals: [word] }) {
      throw usage(`${word === undefined ? "What?" : `There is no 'mcp ${word}'.`} parley mcp add, list, remove or login`);
    },
  },
  {
    name: "mcp add",
    usage: "parley mcp add NAME -- COMMAND… | parley mcp add NAME URL",
    summary: "Adds an MCP server to your config.yaml: a command that is started, or an address.",
    details:
      "The server is there in every later session. ${NAME} in a value is that variable, filled in when the server is started: secrets need not stand in the file.",
    positionals: Infinity,
    flags: [
      { name: "env", value: "NAME=VALUE", help: "a variable for the command; may be repeated" },
      { name: "header", value: "NAME: VALUE", help: "a header for the address; may be repeated" },
    ],
    async run(parsed) {
      const { addServer } = await import("./config.js");
      return addServer(parsed, process.env);
    },
  },
  {
    name: "mcp list",
    usage: "parley mcp list [flags]",
    summary: "Lists the configured MCP servers, and the file that names each.",
    positionals: 0,
    flags: [{ name: "json", help: "for programs: one JSON object a line" }, ...PLACE_FLAGS],
    async run(parsed) {
      const { listServers } = await import("./config.js");
      return listServers(parsed, await commandSettings(parsed));
    },
  },
  {
    name: "mcp remove",
    usage: "parley mcp remove NAME",
    summary: "Removes an MCP server from your config.yaml.",
    positionals: 1,
    flags: [],
    async run(parsed) {
      const { removeServer } = await import("./config.js");
      return removeServer(parsed, process.env);
    },
  },
  {
    name: "mcp login",
    usage: "parley mcp login NAME [flags]",
    summary: "Logs in to an MCP server that asks for it, in your browser.",
    positionals: 1,
    flags: PLACE_FLAGS,
    async run(parsed) {
      const { loginToServer } = await import("./login.js");
      return loginToServer(parsed, await commandSettings(parsed), process.env);
    },
  },
];
