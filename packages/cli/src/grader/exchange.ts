import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { closesConnection, statusesOf } from './responses.ts';

/** What to do on a connection, in order. */
export type Step =
  | Uint8Array
  /** Milliseconds. */
  | { readonly wait: number }
  /** Waits for a response before the next step. */
  | 'response'
  /** Half-closes the connection. */
  | 'end'
  /** Closes the connection without waiting for a response. */
  | 'cut';

/** What the receiver sent on one connection. */
export interface Answer {
  /** Of the first response; absent if there was none. */
  readonly status: number | undefined;
  /** Of all responses, in order. */
  readonly statuses: readonly number[];
  /** Why there was no response, or fewer than expected. */
  readonly failure: 'timeout' | 'closed' | 'cut' | undefined;
  /** Whether there was a connection. */
  readonly connected: boolean;
  /** Such as `ECONNREFUSED`. */
  readonly errorCode: string | undefined;
  /** The receiver's clock, if it sends one; Unix milliseconds. */
  readonly date: number | undefined;
  readonly ms: number;
}

export interface ExchangeOptions {
  /** How many responses to wait for; 1 by default. */
  readonly responses?: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The most that is read of a response. */
const READ_LIMIT = 262_144;
/** How long the receiver may take to close the connection after its response. */
const CLOSE_WITHIN_MS = 200;

/**
 * Opens a connection of its own, plain or TLS, and sends bytes exactly as given.
 * @throws the signal's reason, when it is aborted
 */
export async function exchange(
  url: URL,
  steps: readonly Step[],
  { responses = 1, timeoutMs, signal }: ExchangeOptions,
): Promise<Answer> {
  signal.throwIfAborted();
  const started = performance.now();
  const connection = open(url, timeoutMs, signal);
  const { socket, state, until } = connection;
  let ms: number;
  try {
    await send(connection, steps, signal);
    const isDone = () => statusesOf(state.text).length >= responses || closesConnection(state.text);
    if (!state.cut) await until(isDone);
    ms = Math.round(performance.now() - started);
    // The rest of the response is read, so that the receiver can send all of it.
    if (!state.cut && !state.over) await Promise.race([until(() => false), pause(CLOSE_WITHIN_MS)]);
  } finally {
    socket.destroy();
    connection.dispose();
  }
  signal.throwIfAborted();
  const statuses = statusesOf(state.text);
  const date = Date.parse(/\r\ndate: *([^\r]+)/i.exec(state.text)?.[1] ?? '');
  return {
    status: statuses[0],
    statuses,
    failure: statuses.length >= responses ? undefined : failureOf(state),
    connected: state.connected,
    errorCode: state.errorCode,
    date: Number.isNaN(date) ? undefined : date,
    ms,
  };
}

async function send(
  { socket, state, until }: ReturnType<typeof open>,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<void> {
  await until(() => state.connected);
  for (const step of steps) {
    if (state.over || closesConnection(state.text)) break;
    if (step === 'cut') state.cut = true;
    else if (step === 'end') socket.end();
    else if (step === 'response') await until(() => statusesOf(state.text).length > 0);
    else if ('wait' in step)
      await pause(step.wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    else await written(socket, step);
  }
}

interface State {
  text: string;
  connected: boolean;
  /** No more bytes come. */
  over: boolean;
  timedOut: boolean;
  cut: boolean;
  errorCode: string | undefined;
}

function open(url: URL, timeoutMs: number, signal: AbortSignal) {
  const isTls = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (isTls ? 443 : 80));
  const socket: Socket = isTls
    ? connectTls({ host, port, servername: /^[\d.:]+$/.test(host) ? '' : host })
    : connectTcp({ host, port, allowHalfOpen: true });
  const state: State = {
    text: '',
    connected: false,
    over: false,
    timedOut: false,
    cut: false,
    errorCode: undefined,
  };
  let changed = () => {};
  const on = (change: () => void) => () => {
    change();
    changed();
  };
  const end = on(() => (state.over = true));
  socket.on(
    isTls ? 'secureConnect' : 'connect',
    on(() => (state.connected = true)),
  );
  socket.on('data', (data: Buffer) => {
    if (state.text.length < READ_LIMIT) state.text += data.toString('latin1');
    changed();
  });
  socket.on('end', end);
  socket.on('close', end);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    state.errorCode ??= error.code ?? error.message;
  });
  const timer = setTimeout(
    on(() => {
      state.over = state.timedOut = true;
      // Bytes that the receiver does not read must not be waited for.
      socket.destroy();
    }),
    timeoutMs,
  );
  const abort = () => socket.destroy();
  signal.addEventListener('abort', abort);
  return {
    socket,
    state,
    /** Resolves when it is so, or no more bytes come. */
    until: (done: () => boolean) =>
      new Promise<void>((resolve) => {
        changed = () => {
          if (done() || state.over) resolve();
        };
        changed();
      }),
    dispose: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    },
  };
}

const failureOf = ({ cut, timedOut }: State) => (cut ? 'cut' : timedOut ? 'timeout' : 'closed');

/** Resolves when the bytes are on their way, or can't be sent. */
const written = (socket: Socket, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve());
    socket.write(bytes, () => resolve());
  });
