/** Where the browser comes back to after a login: a listener on this machine, for as long as the login runs and no longer. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ParleyError } from "../../../core/errors.js";

export interface Redirect {
  url: string;
  /**
   * The parameters that the authorization server sent along; only a request with the right `state` counts. Rejects when `signal` is
   * aborted.
   */
  arrived(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): void;
}

const PATH = "/callback";

/** On `port` if that is free: a client that is registered for it need not be registered again. */
export async function listenForRedirect(port: number): Promise<Redirect> {
  const server = createServer();
  const bound = await listen(server, port).catch(() => listen(server, 0));
  const url = `http://127.0.0.1:${bound}${PATH}`;
  return {
    url,
    close() {
      server.close();
      server.closeAllConnections();
    },
    arrived: (state, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => reject(fault("The login was not finished in time"));
        signal.addEventListener("abort", stop, { once: true });
        if (signal.aborted) stop();
        server.on("request", (request, response) => {
          const params = paramsOf(request, state);
          answer(response, params !== undefined);
          if (params !== undefined) resolve(params);
        });
      }),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      if (typeof address === "object" && address !== null) resolve(address.port);
      else reject(fault("The listener for the login has no port"));
    });
  });
}

function paramsOf(request: IncomingMessage, state: string): URLSearchParams | undefined {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  return request.method === "GET" && url.pathname === PATH && url.searchParams.get("state") === state ? url.searchParams : undefined;
}

function answer(response: ServerResponse, ok: boolean): void {
  response.writeHead(ok ? 200 : 404, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(ok ? "Parley has the answer of the login. This window can be closed.\n" : "Nothing is here.\n");
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false });
}
