import type { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What every server has to send: nobody may be faster by sending less. */
const isExpected = (response: string, body: string) =>
  response.startsWith('HTTP/1.1 200 ') &&
  /\r\ncontent-type: application\/json/i.test(response) &&
  response.endsWith(`\r\n\r\n${body}`);

/** Posts prepared requests to one server over open connections, one request at a time on each. */
export class Sender {
  readonly #sockets: readonly Socket[];
  readonly #body: string;

  private constructor(sockets: readonly Socket[], body: string) {
    this.#sockets = sockets;
    this.#body = body;
  }

  /** @param body of every response */
  static async open(port: number, connections: number, body: string): Promise<Sender> {
    const sockets = Array.from({ length: connections }, () =>
      connect({ port, host: '127.0.0.1', noDelay: true }),
    );
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return new Sender(sockets, body);
  }

  /**
   * Posts all requests. It rejects when a response is not a 200 with the body.
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
    const waiting = requests.values();
    try {
      await Promise.all(this.#sockets.map((socket) => this.#exchange(socket, waiting)));
    } finally {
      awake = false;
    }
  }

  /** Posts on one connection, each request after the response to the one before. */
  #exchange(socket: Socket, waiting: Iterator<Buffer>): Promise<void> {
    return new Promise((resolve, reject) => {
      let response = '';
      const end = (error?: Error) => {
        socket.off('data', onData).off('close', onClose).off('error', end);
        if (error) reject(error);
        else resolve();
      };
      const post = () => {
        const next = waiting.next();
        if (next.done) end();
        else socket.write(next.value);
      };
      const onData = (chunk: Buffer) => {
        response += chunk.toString('latin1');
        if (response.length < this.#body.length || !response.endsWith('}')) return;
        if (!isExpected(response, this.#body)) {
          end(new Error(`The server responded ${response.slice(0, 300)}`));
          return;
        }
        response = '';
        post();
      };
      const onClose = () => end(new Error('The server closed a connection.'));
      socket.on('data', onData).on('close', onClose).on('error', end);
      post();
    });
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
