/** The lists of a server: its tools, prompts and resources, as far as we take them. */
import type { Client, Prompt, Resource, Tool } from "@modelcontextprotocol/client";

/** Characters of one tool's definition, as JSON: it goes along with every request to the model. */
const MAX_TOOL_CHARS = 64 * 1024;

const MAX_PAGES = 100;
const MAX_ITEMS = 500;

export interface Lists {
  tools: Tool[];
  prompts: Prompt[];
  resources: Resource[];
  /** A sentence for each item that was left out. */
  warnings: string[];
}

/** `enabled` are the names of the tools that are wanted; all when there are none. */
export async function listAll(
  client: Client,
  enabled: readonly string[] | undefined,
  options: { signal: AbortSignal; timeout: number },
): Promise<Lists> {
  const has = client.getServerCapabilities() ?? {};
  const params = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });
  const [tools, prompts, resources] = await Promise.all([
    pagesIf(has.tools, async (cursor) => {
      const page = await client.request({ method: "tools/list", params: params(cursor) }, options);
      return { items: page.tools, next: page.nextCursor };
    }),
    pagesIf(has.prompts, async (cursor) => {
      const page = await client.request({ method: "prompts/list", params: params(cursor) }, options);
      return { items: page.prompts, next: page.nextCursor };
    }),
    pagesIf(has.resources, async (cursor) => {
      const page = await client.request({ method: "resources/list", params: params(cursor) }, options);
      return { items: page.resources, next: page.nextCursor };
    }),
  ]);
  const wanted = firstOfEachName(tools.items).filter(({ name }) => enabled === undefined || enabled.includes(name));
  const [fitting, huge] = [wanted.filter(fits), wanted.filter((tool) => !fits(tool))];
  const cut = Object.entries({ tools, prompts, resources }).filter(([, pages]) => pages.cut);
  return {
    tools: fitting,
    prompts: firstOfEachName(prompts.items),
    resources: resources.items,
    warnings: [
      ...cut.map(([what, { items }]) => `lists more ${what} than Parley takes; the first ${items.length} count`),
      ...huge.map(({ name }) => `has a tool '${name}' whose definition is too long; it was left out`),
    ],
  };
}

function pagesIf<T>(
  capability: unknown,
  page: (cursor: string | undefined) => Promise<{ items: T[]; next: string | undefined }>,
): Promise<Pages<T>> {
  return capability === undefined ? Promise.resolve({ items: [], cut: false }) : allPages(page);
}

function firstOfEachName<T extends { name: string }>(items: readonly T[]): T[] {
  const seen = new Set<string>();
  return items.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function fits(tool: Tool): boolean {
  return JSON.stringify(tool).length <= MAX_TOOL_CHARS;
}

interface Pages<T> {
  items: T[];
  /** The server had more than we take. */
  cut: boolean;
}

/** Collects the pages of a server that may never end them. `page` fetches the one behind a cursor. */
async function allPages<T>(page: (cursor: string | undefined) => Promise<{ items: T[]; next: string | undefined }>): Promise<Pages<T>> {
  const items: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { items: more, next } = await page(cursor);
    const room = MAX_ITEMS - items.length;
    items.push(...more.slice(0, room));
    if (more.length > room) return { items, cut: true };
    if (next === undefined) return { items, cut: false };
    cursor = next;
  }
  return { items, cut: true };
}
