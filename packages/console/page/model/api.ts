import { ApiError, callJson } from '@call-webhooks/ui';
import { CSRF_HEADER, type Session } from '../../src/api-types.ts';
import { report } from './connection.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

const LOST = 'The receiver does not answer. It may be restarting, or the network is down.';
const FOREIGN =
  'The answer did not come from the console. Your sign-in may have run out: reload the page to sign in again.';

let token: string | undefined;

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
    return new ApiError('unreachable', 'There is no console at this address any more.');
  return error;
}

const stateAfter = (code: string) =>
  code === 'unreachable' ? 'lost' : code === 'unauthorized' ? 'signed-out' : 'live';

/** @throws ApiError */
export const get = <Body>(path: string, query?: Query, signal?: AbortSignal): Promise<Body> =>
  send({ url: urlOf(path, query), signal });

/** @throws ApiError */
export async function getSession(signal?: AbortSignal): Promise<Session> {
  const session = await get<Session>('api/session', {}, signal);
  token = session.csrfToken;
  return session;
}

/**
 * Changes something. An old token is renewed once.
 * @throws ApiError
 */
export async function post<Body>(path: string, body: unknown = {}): Promise<Body> {
  const once = () =>
    send<Body>({
      method: 'POST',
      url: urlOf(path),
      body,
      headers: token === undefined ? {} : { [CSRF_HEADER]: token },
    });
  try {
    return await once();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'csrf-token') throw error;
    await getSession();
    return once();
  }
}
