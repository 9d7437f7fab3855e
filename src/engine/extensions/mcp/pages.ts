/** Lists that come in pages, from a server that may never end them. */

const MAX_PAGES = 100;
const MAX_ITEMS = 500;

export interface Pages<T> {
  items: T[];
  /** There was more than we take. */
  cut: boolean;
}

/** `page` fetches the one behind a cursor. */
export async function allPages<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next: string | undefined }>,
): Promise<Pages<T>> {
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
