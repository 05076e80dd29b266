import type { FastifyInstance } from 'fastify';
import { errorAnswer } from './error-answer.ts';

/** One file of a page. */
export interface PageFile {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly text: string;
}

/** A page that the simulator serves at its root: `inspectorPage()` of `@call-webhooks/inspector`. */
export interface InspectorPage {
  /**
   * By name. `index.html` is served at `/`, the others at `/_inspector/<name>`. Browsers keep those for
   * a year, so their names contain a hash of their content.
   */
  readonly files: ReadonlyMap<string, PageFile>;
}

/**
 * Allows nothing inline, nothing from other hosts and no frame around the page.
 * `require-trusted-types-for` makes the browser refuse to parse text as HTML.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

const FOREVER = 'public, max-age=31536000, immutable';

const NO_PAGE =
  'This simulator has no inspector. Pass `inspector: inspectorPage()` from @call-webhooks/inspector to startSimulator.';

/** Serves the page at `/` and its files below `/_inspector/`. */
export function servePage(app: FastifyInstance, page: InspectorPage | undefined): void {
  const respond = (name: string, otherwise: string) => {
    const file = page?.files.get(name);
    const cache = name === 'index.html' ? 'no-cache' : FOREVER;
    const headers = { ...HEADERS, 'cache-control': cache };
    if (file)
      return { status: 200, headers: { ...headers, 'content-type': file.type }, body: file.text };
    return { ...errorAnswer(404, 'not-found', page ? otherwise : NO_PAGE), headers: {} };
  };
  app.get('/', (_request, reply) => {
    const { status, headers, body } = respond('index.html', 'The page has no index.html.');
    return reply.code(status).headers(headers).send(body);
  });
  app.get<{ Params: { '*': string } }>('/_inspector/*', ({ params }, reply) => {
    const { status, headers, body } = respond(params['*'], 'The inspector has no such file.');
    return reply.code(status).headers(headers).send(body);
  });
}
