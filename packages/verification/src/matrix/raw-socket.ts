import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** What to do on a connection, step by step. */
export type SocketStep =
  | string
  | Buffer
  /** Milliseconds. */
  | { readonly wait: number }
  /** Waits until the server has sent this. */
  | { readonly until: string }
  /** Sends it byte by byte at this interval, until the server ends the connection. */
  | { readonly drip: string | Buffer; readonly everyMs: number }
  /** Half-closes, or resets. */
  | { readonly end: 'fin' | 'rst' };

/** What the server sent on one connection. */
export interface SocketReply {
  /** Final statuses in order, without 100 Continue. */
  readonly statuses: readonly number[];
  /** The outcomes in the response bodies. */
  readonly outcomes: readonly string[];
  /** Whether the server ended the connection. */
  readonly closed: boolean;
}

/** How long to wait for the rest of a body when the server does not close the connection. */
const BODY_AFTER_STATUS_MS = 250;
const STATUS = /HTTP\/1\.[01] (\d{3}) ?/g;
const OUTCOME = /"outcome":"([a-z-]+)"/g;

/** Runs the steps, then reads until the server ends the connection or `timeoutMs` have passed. */
export async function exchange(
  { host, port }: { host: string; port: number },
  steps: readonly SocketStep[],
  { responses = 1, timeoutMs = 3_000 } = {},
): Promise<SocketReply> {
  const socket = connect({ host, port, allowHalfOpen: true });
  let text = '';
  let closed = false;
  const changed = () => socket.emit('changed');
  socket.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    changed();
  });
  socket.on('end', () => {
    closed = true;
    changed();
  });
  socket.on('error', () => undefined); // resets are expected
  socket.on('close', () => {
    closed = true;
    changed();
  });
  const reply = (): SocketReply => ({
    statuses: matches(text, STATUS)
      .map(Number)
      .filter((status) => status >= 200),
    outcomes: matches(text, OUTCOME),
    closed,
  });
  const until = async (done: () => boolean, ms = timeoutMs) => {
    const timedOut = AbortSignal.timeout(ms);
    while (!done() && !timedOut.aborted)
      await once(socket, 'changed', { signal: timedOut }).catch(() => undefined);
  };

  await once(socket, 'connect');
  for (const step of steps) {
    if (typeof step === 'string' || Buffer.isBuffer(step)) socket.write(step);
    else if ('end' in step) end(socket, step.end);
    else if ('wait' in step) await pause(step.wait);
    else if ('drip' in step) await drip(socket, step, () => closed);
    else await until(() => closed || text.includes(step.until));
  }
  await until(() => closed || reply().statuses.length >= responses);
  await until(() => closed, BODY_AFTER_STATUS_MS);
  socket.destroy();
  return reply();
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
