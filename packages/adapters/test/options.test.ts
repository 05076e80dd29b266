import { describe, expect, it } from '@jest/globals';
import { callWebhooks as hono, generateSecret } from '../src/hono.ts';
import { callWebhooks as koa } from '../src/koa.ts';
import { callWebhooks as lambda } from '../src/lambda.ts';

const secret = generateSecret();

it.each(Object.entries({ hono, koa, lambda }))(
  '%s: an invalid secret throws at start-up',
  (_name, callWebhooks) => {
    expect(() => callWebhooks({ secret: undefined })).toThrow('environment variable');
  },
);

describe.each(Object.entries({ hono, koa }))('the path of %s', (_name, callWebhooks) => {
  it.each([
    'hook',
    '',
    'https://x.example/hook',
    '/hook?x=1',
    '/hook#x',
    '/:id',
    '/hook/*',
    null,
    7,
  ])('throws at start-up, with the fix, if no request has it: %j', (path) => {
    expect(() => callWebhooks({ secret, path: path as string })).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(
          'Invalid options of callWebhooks: path: expected a path that starts with a slash',
        ) as unknown,
      }),
    );
  });
});
