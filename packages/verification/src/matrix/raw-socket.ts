import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** What is done with a connection, piece by piece. */
export type Piece =
  | string
  | Buffer
  /** Milliseconds. */
  | { readonly wait: number }
  /** Waits until the server has said this. */
  | { readonly until: string }
  /** Sends it byte by byte, one in so many milliseconds, until the server ends the connection. */
  | { readonly drip: string | Buffer; readonly everyMs: number }
  /** Half-closes, or resets. */
  | { readonly end: 'fin' | 'rst' };

/** What a server said on one connection. */
export interface Heard {
  /** Final statuses, in order; without 100 Continue. */
  readonly statuses: readonly number[];
  /** What the answers' bodies name. */
  readonly outcomes: readonly string[];
  /** Whether the server ended the connection. */
  readonly closed: boolean;
}

/** A server that closes says with it that its body is whole; one that does not is given so long. */
const BODY_AFTER_STATUS_MS = 250;
const STATUS = /HTTP\/1\.[01] (\d{3}) ?/g;
const OUTCOME = /"outcome":"([a-z-]+)"/g;

/** Says the pieces, and listens until the server ends the connection, or for `patienceMs` after the last. */
export async function say(
  { host, port }: { host: string; port: number },
  pieces: readonly Piece[],
  { answers = 1, patienceMs = 3_000 } = {},
): Promise<Heard> {
  const socket = connect({ host, port, allowHalfOpen: true });
  let text = '';
  let closed = false;
  const changed = () => socket.emit('heard');
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    changed();
  });
  socket.on('end', () => {
    closed = true;
    changed();
  });
  socket.on('error', () => undefined); // resets are part of it
  socket.on('close', () => {
    closed = true;
    changed();
  });
  const heard = (): Heard => ({
    statuses: matches(text, STATUS)
      .map(Number)
      .filter((status) => status >= 200),
    outcomes: matches(text, OUTCOME),
    closed,
  });
  const until = async (done: () => boolean, ms = patienceMs) => {
    const over = AbortSignal.timeout(ms);
    while (!done() && !over.aborted)
      await once(socket, 'heard', { signal: over }).catch(() => undefined);
  };

  await once(socket, 'connect');
  for (const piece of pieces) {
    if (typeof piece === 'string' || Buffer.isBuffer(piece)) socket.write(piece);
    else if ('end' in piece) end(socket, piece.end);
    else if ('wait' in piece) await pause(piece.wait);
    else if ('drip' in piece) await drip(socket, piece, () => closed);
    else await until(() => closed || text.includes(piece.until));
  }
  await until(() => closed || heard().statuses.length >= answers);
  await until(() => closed, BODY_AFTER_STATUS_MS);
  socket.destroy();
  return heard();
}

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');

async function drip(
  socket: Socket,
  { drip: bytes, everyMs }: { drip: string | Buffer; everyMs: number },
  over: () => boolean,
): Promise<void> {
  for (const byte of Buffer.from(bytes as string)) {
    if (over()) return;
    socket.write(Buffer.of(byte));
    await pause(everyMs);
  }
}

function end(socket: Socket, how: 'fin' | 'rst'): void {
  if (how === 'fin') socket.end();
  else socket.resetAndDestroy();
}
