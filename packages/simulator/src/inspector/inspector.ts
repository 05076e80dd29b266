import type { FastifyInstance } from 'fastify';
import { errorAnswer } from '../http/error-answer.ts';
import { ASSETS } from './assets.generated.ts';

/**
 * Nothing inline, nothing from elsewhere, no frame around it; and the browser itself refuses to take
 * text for HTML (`require-trusted-types-for`), where it knows that directive.
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
  'cache-control': 'no-cache',
};

/** The page at the root, and what it is made of. */
export function inspector(app: FastifyInstance): void {
  const send = (name: string) => {
    const asset = ASSETS.get(name);
    return asset && { headers: { ...HEADERS, 'content-type': asset.type }, body: asset.text };
  };
  app.get('/', (_request, reply) => {
    const page = send('index.html');
    return reply.headers(page?.headers ?? {}).send(page?.body);
  });
  app.get<{ Params: { '*': string } }>('/_inspector/*', ({ params }, reply) => {
    const found = send(params['*']);
    if (found) return reply.headers(found.headers).send(found.body);
    const { status, body } = errorAnswer(404, 'not-found', 'The inspector has no such part.');
    return reply.code(status).send(body);
  });
}
