import { RequestError, type Answer } from '../http/answer.ts';
import { invalid, MAX_BODY, pathBelow, splitUrl, type MountedRequest } from '../http/request.ts';

/** Answers fetch's `Request`. */
export type FetchMount = (request: Request) => Promise<Response>;

/** @param mount the path of the console, without a slash at its end */
export function fetchMount(
  handle: (request: MountedRequest) => Promise<Answer>,
  mount: string,
): FetchMount {
  return async (request) => {
    const { method, headers } = request;
    const { path, query } = splitUrl(request.url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, ''));
    const answer = await handle({
      method,
      // Of another path, no route is found.
      path: pathBelow(mount, path) ?? '/elsewhere',
      query,
      headers,
      documentPath: path,
      raw: request,
      body: () => readJson(request),
    });
    const body = method === 'HEAD' ? null : answer.body;
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

/** @throws RequestError `body-too-large`, `invalid-request` */
async function readJson(request: Request): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (request.body)
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > MAX_BODY) throw tooLarge();
      pieces.push(piece);
    }
  return parseJson(Buffer.concat(pieces).toString());
}

export const tooLarge = () => new RequestError('body-too-large', `Send at most ${MAX_BODY} bytes.`);

/** @throws RequestError `invalid-request` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('the body is not JSON');
  }
}
