/**
 * The files around a session: skills, sub-agents and memory files. They are read once the session is ready, checked at each turn and
 * when a folder changes, and read again if something changed. An error in a file is reported once.
 */
import { dirname } from "node:path";
import type { SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import { BUILT_IN_AGENTS } from "../turn/sub-agents/built-in-agents.js";
import { compileRules } from "../permissions/rules.js";
import type { Instruction } from "../session/briefing.js";
import type { SessionControl } from "../session/control.js";
import { toolExists } from "../permissions/tool-lists.js";
import { spawnTool } from "../tools/spawn.js";
import type { Tool } from "../tools/tool.js";
import { AGENTS, type DefinedAgent } from "./agents.js";
import { readDefinitions, type Reading } from "./definitions.js";
import { foldersBelow, memoryText, readMemory, readNestedMemory, type MemoryFile } from "./memory.js";
import { placesOf, repositoryOf, type Surroundings } from "./places.js";
import { skillTool } from "./skill-tool.js";
import { skillList, SKILLS, skillText, type Skill } from "./skills.js";
import { isAnyChanged, Stamps } from "./stamps.js";
import { FolderWatch } from "./watch.js";
import { Gate } from "../../os/gate.js";

/** Sessions that read their files at once. Each reads a few dozen files side by side; the others wait. */
const reads = new Gate(2);

export interface LibraryDeps {
  home: string;
  userHome: string;
  anteHome: string | undefined;
  trusts(root: string): Promise<boolean>;
  control: SessionControl;
  /** The lists of skills or sub-agents have changed, or are known for the first time. */
  onChange(): void;
}

interface Contents {
  trusted: boolean;
  around: Surroundings;
  /** The session's own kinds of sub-agents. */
  own: SessionConfig["subagents"];
  skills: readonly Skill[];
  agents: readonly DefinedAgent[];
  memory: readonly MemoryFile[];
  stamps: readonly Stamps[];
  /** Made once, so that they are the same in every turn. */
  tools: readonly Tool[];
}

export class Library {
  readonly #deps: LibraryDeps;
  readonly #told = new Set<string>();
  readonly #watch = new FolderWatch(() => this.start());
  #contents: Contents | undefined;
  #lastRefresh: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(deps: LibraryDeps) {
    this.#deps = deps;
  }

  /** Empty until the files are read. */
  get skills(): readonly Skill[] {
    return this.#contents?.skills ?? [];
  }

  get agents(): readonly DefinedAgent[] {
    return this.#contents?.agents ?? [];
  }

  get memory(): readonly MemoryFile[] {
    return this.#contents?.memory ?? [];
  }

  /** Reads in the background; a caller that needs the files gets a failure. */
  start(): void {
    void this.refresh().catch(() => {});
  }

  /** Reads changes up to now: a running check may have missed the latest, so the next one waits for it. */
  refresh(): Promise<Contents> {
    const refreshed = this.#lastRefresh.catch(() => {}).then(() => this.#refresh());
    this.#lastRefresh = refreshed;
    return refreshed;
  }

  async forTurn(): Promise<{ tools: readonly Tool[]; instructions: Instruction[] }> {
    const { tools, memory, skills } = await this.refresh();
    const listed = toolExists("Skill", this.#deps.control.config()) ? skillList(skills.filter((skill) => skill.modelInvocable)) : "";
    const files = memory.map((file) => ({ source: `the instructions in ${file.path}`, text: memoryText(file) }));
    return { tools, instructions: listed === "" ? files : [...files, { source: "the list of skills", text: listed }] };
  }

  /** Instructions files between the workspace and a file in it; `given` are the paths of those already given. */
  async instructionsFor(path: string, given: Set<string>): Promise<string[]> {
    const { root } = this.#deps.control.session.workspace;
    const folders = foldersBelow(root, dirname(path)).filter((folder) => !given.has(folder));
    if (folders.length === 0) return [];
    for (const folder of folders) given.add(folder);
    const { memory, around } = await this.refresh();
    const reading: Reading = { around, stamps: new Stamps(), warn: (text) => this.#warn("memory", text) };
    return (await readNestedMemory(reading, folders, memory)).map(memoryText);
  }

  /** `/name args` as a prompt of the turn that it begins. Throws if people have no such skill. */
  async skillPrompt(name: string, args: string): Promise<Part[]> {
    const { skills, trusted } = await this.refresh();
    const skill = skills.find((one) => one.name === name && one.userInvocable);
    if (skill === undefined) {
      throw new ParleyError({ code: "unsupported", message: `There is no skill '${name}'`, retryable: false, param: "command" });
    }
    await this.#grant(grantsOf(skill, trusted));
    return [{ type: "text", text: skillText(skill, args) }];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch.close();
    await this.#lastRefresh.catch(() => {});
  }

  async #refresh(): Promise<Contents> {
    const { root } = this.#deps.control.session.workspace;
    const before = this.#contents;
    const trusted = await this.#deps.trusts(root);
    const { subagents: own } = this.#deps.control.config();
    if (before !== undefined && (this.#isClosed || (before.trusted === trusted && before.own === own && !isAnyChanged(before.stamps))))
      return before;
    const contents = await reads.run(() => this.#read(root, trusted, own));
    this.#contents = contents;
    if (!this.#isClosed && (before === undefined || listOf(before) !== listOf(contents))) this.#deps.onChange();
    return contents;
  }

  async #read(root: string, trusted: boolean, own: Contents["own"]): Promise<Contents> {
    const { home, userHome, anteHome } = this.#deps;
    const around: Surroundings = { home, userHome, anteHome, root, repository: await repositoryOf(root), trusted };
    const [definitions, memories] = [new Stamps(), new Stamps()];
    const reading = (kind: string, stamps: Stamps): Reading => ({ around, stamps, warn: (text) => this.#warn(kind, text) });
    const [skillPlaces, agentPlaces] = await Promise.all([placesOf("skills", around), placesOf("agents", around)]);
    const [skills, defined, memory] = await Promise.all([
      readDefinitions(SKILLS, skillPlaces, reading("skill", definitions)),
      readDefinitions(AGENTS, agentPlaces, reading("subagent", definitions)),
      readMemory(reading("memory", memories)),
    ]);
    if (!this.#isClosed) this.#watch.follow([...[...skillPlaces, ...agentPlaces].map(({ folder }) => folder), ...definitions.folders()]);
    const agents = withBuiltIns(withOwn(trusted ? defined : defined.map(unvouched), own));
    return {
      trusted,
      around,
      own,
      skills,
      agents,
      memory,
      stamps: [definitions, memories],
      tools: [spawnTool(agents), ...this.#skillTool(skills, trusted)],
    };
  }

  #skillTool(skills: readonly Skill[], trusted: boolean): Tool[] {
    const usable = skills.filter((skill) => skill.modelInvocable);
    if (usable.length === 0) return [];
    const granted = (skill: Skill): readonly string[] => grantsOf(skill, trusted);
    return [skillTool(usable, { grantsOf: granted, use: (skill) => this.#grant(granted(skill)) })];
  }

  /** For the rest of the turn; the session removes it when the next turn begins. */
  async #grant(rules: readonly string[]): Promise<void> {
    if (rules.length === 0) return;
    try {
      this.#deps.control.session.permissions.forTurn.push(await compileRules(rules.map((allow) => ({ allow }))));
    } catch (error) {
      this.#warn("skill", `A skill's allowed-tools do not count: ${messageOf(error)}`);
    }
  }

  #warn(kind: string, text: string): void {
    if (this.#isClosed || this.#told.has(text)) return;
    this.#told.add(text);
    void this.#deps.control.emit({ type: "notice", level: "warning", kind, text });
  }
}

/** A workspace that is not trusted grants nothing. */
function grantsOf({ scope, allowedTools }: Skill, trusted: boolean): readonly string[] {
  return scope === "project" && !trusted ? [] : allowedTools;
}

function unvouched(agent: DefinedAgent): DefinedAgent {
  return agent.scope === "project" ? { ...agent, untrusted: true } : agent;
}

/** The host's definitions win over those of files. */
function withOwn(defined: readonly DefinedAgent[], own: Contents["own"] = []): DefinedAgent[] {
  const others = defined.filter(({ name }) => !own.some((agent) => agent.name === name));
  return [...others, ...own.map((agent): DefinedAgent => ({ ...agent, scope: "user" }))];
}

function withBuiltIns(defined: readonly DefinedAgent[]): DefinedAgent[] {
  const builtIn = BUILT_IN_AGENTS.filter(({ name }) => !defined.some((agent) => agent.name === name));
  return [...builtIn.map((agent): DefinedAgent => ({ ...agent, scope: "system" })), ...defined];
}

/** The lists for hosts. */
function listOf({ skills, agents }: Contents): string {
  const told = [skills, agents].map((list) => list.map(({ name, description, scope }) => [name, description, scope]));
  return JSON.stringify([told, skills.map(({ argumentHint, userInvocable }) => [argumentHint, userInvocable])]);
}
