// A proxy to the server that can cut and hold connections, which browsers cannot do for running streams.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire {
  url: string;
  /** Cut all open connections. New ones work. */
  cut(): void;
  /** Cut all connections, and every new one at once, until `up`. */
  down(): void;
  up(): void;
  /** Hold every stream at this text. Earlier bytes are delivered. Resolves when a stream is held. */
  holdBefore(words: string): Promise<void>;
  /** Release held streams, up to the next text if given. */
  release(words?: string): Promise<void>;
  close(): void;
}

const HEAD = Buffer.from("HTTP/");

/** The undelivered bytes of a connection. */
interface Held {
  client: Socket;
  bytes: Buffer[];
}

export async function openWire(target: string): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let held: Held[] = [];
  let words: Buffer | undefined;
  let isDown = false;
  let reached: () => void = () => undefined;

  const hold = (client: Socket, bytes: Buffer) => {
    held.push({ client, bytes: [bytes] });
    reached();
  };
  const wanted = (text: string | undefined): Promise<void> => {
    words = text === undefined ? undefined : Buffer.from(text);
    if (!words) return Promise.resolve();
    return new Promise((resolve) => {
      reached = resolve;
    });
  };
  const deliver = (client: Socket, bytes: Buffer) => {
    const waiting = held.find((one) => one.client === client);
    if (waiting) return waiting.bytes.push(bytes);
    const at = words ? bytes.indexOf(words) : -1;
    if (at === -1) return client.write(bytes);
    // A client would accept incomplete response headers.
    const isHead = bytes.subarray(0, 5).equals(HEAD) && at < bytes.indexOf("\r\n\r\n");
    if (!isHead) client.write(bytes.subarray(0, at));
    return hold(client, bytes.subarray(isHead ? 0 : at));
  };

  const server = createServer((client) => {
    if (isDown) return client.destroy();
    const upstream = connect(Number(port), hostname);
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => client.writable && deliver(client, bytes));
    upstream.on("end", () => held.some((one) => one.client === client) || client.end());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // A cut connection has nothing left to deliver.
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const cut = () => {
    for (const socket of sockets) socket.destroy();
    held = [];
    words = undefined;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    down: () => {
      isDown = true;
      cut();
    },
    up: () => {
      isDown = false;
    },
    holdBefore: wanted,
    release: (next) => {
      const before = held;
      held = [];
      const isReached = wanted(next);
      for (const { client, bytes } of before) {
        // The same text does not hold the stream again.
        const all = Buffer.concat(bytes);
        const at = words ? all.indexOf(words, 1) : -1;
        client.write(at === -1 ? all : all.subarray(0, at));
        if (at !== -1) hold(client, all.subarray(at));
      }
      return isReached;
    },
    close: () => {
      cut();
      server.close();
    },
  };
}
