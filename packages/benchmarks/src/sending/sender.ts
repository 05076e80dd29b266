import type { Buffer } from 'node:buffer';
import { on, once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** What a server answers; the same for every contender that can be made to. */
export interface SeenAnswer {
  status: number;
  contentType: string | undefined;
  body: string;
}

/** Posts prepared requests to one server over connections that stay open, one request at a time on each. */
export class Sender {
  readonly #sockets: Socket[];
  /** Bytes of one answer: known after the first, and the same from then on. */
  #answerBytes = 0;

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

  /** Posts one request and reads its answer. */
  async probe(request: Buffer): Promise<SeenAnswer> {
    const socket = this.#sockets[0] as Socket;
    let text = '';
    socket.write(request);
    for await (const [chunk] of on(socket, 'data') as AsyncIterable<[Buffer]>) {
      text += chunk.toString('latin1');
      if (isWhole(text)) break;
    }
    this.#answerBytes = text.length;
    return {
      status: Number(text.slice(9, 12)),
      contentType: /content-type: (.*)\r/i.exec(text)?.[1],
      body: bodyOf(text),
    };
  }

  /**
   * Posts all requests. Rejects when an answer is not a 200 of the size that `probe` saw.
   *
   * It never sleeps meanwhile: waking a sleeping process is work that the kernel bills to the one
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
        const answered = () => {
          if (--open === 0) resolve();
        };
        for (const socket of this.#sockets)
          cleanUp.push(this.#exchange(socket, take, answered, reject));
      });
    } finally {
      awake = false;
      for (const remove of cleanUp) remove();
    }
  }

  /** Posts on one connection, each request when the one before it is answered. */
  #exchange(
    socket: Socket,
    take: () => Buffer | undefined,
    answered: () => void,
    fail: (error: Error) => void,
  ): () => void {
    let received = 0;
    const post = () => {
      const request = take();
      if (request) socket.write(request);
    };
    const onData = (chunk: Buffer) => {
      if (received === 0 && chunk.toString('latin1', 9, 12) !== '200')
        fail(new Error(`The server answered ${chunk.toString('latin1', 0, 300)}`));
      received += chunk.length;
      if (received < this.#answerBytes) return;
      if (received > this.#answerBytes) fail(new Error('An answer has another size.'));
      received = 0;
      answered();
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

const bodyAt = (answer: string) => answer.indexOf('\r\n\r\n') + 4;
const isChunked = (answer: string) => /transfer-encoding: chunked/i.test(answer);

function isWhole(answer: string): boolean {
  if (isChunked(answer)) return answer.endsWith('\r\n0\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(answer)?.[1];
  return length !== undefined && answer.length >= bodyAt(answer) + Number(length);
}

/** Next lets nobody choose, and sends its answers in chunks: these come in one. */
function bodyOf(answer: string): string {
  const body = answer.slice(bodyAt(answer));
  return isChunked(answer) ? (/^[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/s.exec(body)?.[1] ?? body) : body;
}
