import type { Buffer } from 'node:buffer';
import { on, once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The response of a server. */
export interface SeenResponse {
  status: number;
  contentType: string | undefined;
  body: string;
}

/** Posts prepared requests to one server over open connections, one request at a time on each. */
export class Sender {
  readonly #sockets: Socket[];
  /** Size of one response: known after the first one, and the same from then on. */
  #responseBytes = 0;

  private constructor(sockets: Socket[]) {
    this.#sockets = sockets;
  }

  static async open(port: number, connections: number): Promise<Sender> {
    const sockets = Array.from({ length: connections }, () =>
      connect({ port, host: '127.0.0.1', noDelay: true }),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return new Sender(sockets);
  }

  /** Posts one request and reads its response. */
  async probe(request: Buffer): Promise<SeenResponse> {
    const socket = this.#sockets[0] as Socket;
    let text = '';
    socket.write(request);
    for await (const [chunk] of on(socket, 'data') as AsyncIterable<[Buffer]>) {
      text += chunk.toString('latin1');
      if (isWhole(text)) break;
    }
    this.#responseBytes = text.length;
    return {
      status: Number(text.slice(9, 12)),
      contentType: /content-type: (.*)\r/i.exec(text)?.[1],
      body: text.slice(bodyAt(text)),
    };
  }

  /**
   * Posts all requests. Rejects when a response is not a 200 of the size that `probe` saw.
   *
   * It never sleeps meanwhile. The kernel charges the wake-up of a sleeping process to the process
   * that wakes it, which is the server that is measured.
   */
  async run(requests: readonly Buffer[]): Promise<void> {
    let awake = true;
    const spin = () => {
      if (awake) setImmediate(spin);
    };
    spin();
    const cleanUp: (() => void)[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        let next = 0;
        let open = requests.length;
        const take = () => requests[next++];
        const onResponse = () => {
          if (--open === 0) resolve();
        };
        for (const socket of this.#sockets)
          cleanUp.push(this.#exchange(socket, take, onResponse, reject));
      });
    } finally {
      awake = false;
      for (const remove of cleanUp) remove();
    }
  }

  /** Posts on one connection, each request after the response to the one before. */
  #exchange(
    socket: Socket,
    take: () => Buffer | undefined,
    onResponse: () => void,
    fail: (error: Error) => void,
  ): () => void {
    let received = 0;
    const post = () => {
      const request = take();
      if (request) socket.write(request);
    };
    const onData = (chunk: Buffer) => {
      if (received === 0 && chunk.toString('latin1', 9, 12) !== '200')
        fail(new Error(`The server responded ${chunk.toString('latin1', 0, 300)}`));
      received += chunk.length;
      if (received < this.#responseBytes) return;
      if (received > this.#responseBytes) fail(new Error('A response has another size.'));
      received = 0;
      onResponse();
      post();
    };
    const onClose = () => fail(new Error('The server closed a connection.'));
    socket.on('data', onData).on('close', onClose).on('error', fail);
    post();
    return () => socket.off('data', onData).off('close', onClose).off('error', fail);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Whether a response is there as a whole. All of them have a content length. */
function isWhole(response: string): boolean {
  const length = /content-length: (\d+)/i.exec(response)?.[1];
  return length !== undefined && response.length >= bodyAt(response) + Number(length);
}

const bodyAt = (response: string) => response.indexOf('\r\n\r\n') + 4;
