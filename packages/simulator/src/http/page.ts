import type { FastifyInstance, FastifyReply } from 'fastify';
import { errorAnswer } from './error-answer.ts';

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

/**
 * Serves the inspector at `/` and its other files below `/_inspector/`. Browsers keep those for a year,
 * so their names contain a hash of their content.
 */
export function servePage(app: FastifyInstance): void {
  const send = async (reply: FastifyReply, name: string, cache: string) => {
    // Loaded on first use: most simulators run in tests, where nobody opens the page.
    const { PAGE_FILES } = await import('../page-files.generated.ts');
    const file = PAGE_FILES.get(name);
    if (file)
      return reply
        .headers({ ...HEADERS, 'cache-control': cache, 'content-type': file.type })
        .send(file.text);
    const { status, body } = errorAnswer(404, 'not-found', 'The inspector has no such file.');
    return reply.code(status).send(body);
  };
  app.get('/', (_request, reply) => send(reply, 'index.html', 'no-cache'));
  app.get<{ Params: { '*': string } }>('/_inspector/*', ({ params }, reply) =>
    send(reply, params['*'], 'public, max-age=31536000, immutable'),
  );
}
