/**
 * `Headers` and `Response`, as far as the provider packages use them. In the bundle they replace Node's own (scripts/build.mjs),
 * whose first use loads all of Node's fetch.
 */
import { BatchReadableStream } from "./batch-readable.js";

type HeadersInput = Iterable<readonly [string, unknown]> | Readonly<Record<string, unknown>>;

export class LightHeaders {
  readonly #values: Map<string, string>;

  /** Node's own are accepted, too: a package without stand-ins may pass some. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && "forEach" in value && "append" in value && "get" in value;
  }

  /** A request copies them several times on its way through a package. */
  constructor(input: HeadersInput = {}) {
    this.#values = new Map(#values in input ? input.#values : undefined);
    if (#values in input) return;
    for (const [name, value] of isIterable(input) ? input : Object.entries(input)) this.append(name, value);
  }

  append(name: string, value: unknown): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${String(value)}`);
  }

  set(name: string, value: unknown): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const name of this.#names()) visit(this.#values.get(name) ?? "", name);
  }

  keys(): IterableIterator<string> {
    return this.#names().values();
  }

  entries(): IterableIterator<[string, string]> {
    return this[Symbol.iterator]();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#names()
      .map((name): [string, string] => [name, this.#values.get(name) ?? ""])
      .values();
  }

  /** In the order of the standard. */
  #names(): string[] {
    return [...this.#values.keys()].sort();
  }
}

type Bytes = BatchReadableStream<Uint8Array>;

export class LightResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: LightHeaders;
  readonly body: Bytes | null;

  constructor(body?: Bytes | Uint8Array | string | null, init: { status?: number; statusText?: string; headers?: HeadersInput } = {}) {
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new LightHeaders(init.headers);
    this.body = typeof body === "string" ? whole(Buffer.from(body)) : body instanceof Uint8Array ? whole(body) : (body ?? null);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return Uint8Array.from(await this.#bytes()).buffer;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#bytes());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async #bytes(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    if (this.body !== null) for await (const chunk of this.body) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

function whole(bytes: Uint8Array): Bytes {
  return new BatchReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

function isIterable(input: HeadersInput): input is Iterable<readonly [string, unknown]> {
  return Symbol.iterator in input;
}
