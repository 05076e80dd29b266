import { useEffect, useState } from 'preact/hooks';
import { ApiError, callJson } from '@call-webhooks/ui';

type Query = Readonly<Record<string, string | number | undefined>>;

const LOST = 'The receiver is not responding. It may be restarting, or the network is down.';
const FOREIGN = 'The response did not come from the console. Your session may have ended.';

/** Where the console is mounted: this script is in a folder below. */
const MOUNT = new URL('..', import.meta.url);

/** @param path below the console */
function urlOf(path: string, query: Query = {}): string {
  const url = new URL(path, MOUNT);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  return url.href;
}

/** Sends a request, and keeps track of whether the receiver answers. */
async function send<Body>(request: Parameters<typeof callJson>[0]): Promise<Body> {
  try {
    const body = await callJson<Body | undefined>({ ...request, unreachable: LOST });
    if (body === undefined) throw new ApiError('unauthorized', FOREIGN);
    report('live');
    return body;
  } catch (error) {
    const known = translated(error);
    if (known instanceof ApiError) report(stateAfter(known.code));
    throw known;
  }
}

/** Errors that came from a proxy or a sign-in page instead of the console. */
function translated(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (/^5\d\d$/.test(error.code)) return new ApiError('unreachable', `${LOST} (${error.code})`);
  if (error.code === '401' || error.code === '403') return new ApiError('unauthorized', FOREIGN);
  if (error.code === '404')
    return new ApiError('unreachable', 'There is no longer a console at this address.');
  return error;
}

const stateAfter = (code: string) =>
  code === 'unreachable' || code === 'unavailable'
    ? 'lost'
    : code === 'unauthorized'
      ? 'signed-out'
      : 'live';

/** @throws ApiError */
export const get = <Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Body> =>
  send({ url: urlOf(path, query), signal });

/** Changes something. @throws ApiError */
export const post = <Body>(path: string, body: unknown = {}): Promise<Body> =>
  send({ method: 'POST', url: urlOf(path), body });

/** Whether the receiver answers, and answers this person. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'lost' | 'signed-out';
  /** When it last answered; milliseconds since the epoch. */
  readonly answeredAt: number | undefined;
}

let connection: Connection = { state: 'connecting', answeredAt: undefined };
const listeners = new Set<(connection: Connection) => void>();

/** Tells the page how a request went. */
function report(state: Exclude<Connection['state'], 'connecting'>): void {
  connection = { state, answeredAt: state === 'live' ? Date.now() : connection.answeredAt };
  for (const listener of listeners) listener(connection);
}

/** The component renders again when the connection changes, not with each answer. */
export function useConnection(): Connection {
  const [known, setKnown] = useState(connection);
  useEffect(() => {
    const listener = (next: Connection) => {
      setKnown((before) => (before.state === next.state ? before : next));
    };
    listener(connection);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return known;
}

/** When the receiver last answered. */
export const lastAnswer = (): number | undefined => connection.answeredAt;
