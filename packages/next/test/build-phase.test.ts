import { afterEach, describe, expect, it } from '@jest/globals';
import { generateSecret } from '@call-webhooks/core';
import { callWebhooks } from '../src/index.ts';
import { callWebhooks as pagesCallWebhooks } from '../src/pages.ts';

describe.each([
  ['App Router', callWebhooks],
  ['Pages Router', pagesCallWebhooks],
])('%s: while next build looks at the routes', (_name, make) => {
  afterEach(() => {
    delete process.env['NEXT_PHASE'];
  });

  it('a secret that is not set yet does not fail the build, but the first use', () => {
    expect(() => make({ secret: undefined })).toThrow('environment variable');
    process.env['NEXT_PHASE'] = 'phase-production-build';
    const handler = make({ secret: undefined });
    expect(() => handler.receiver).toThrow('environment variable');
    expect(make({ secret: generateSecret() }).receiver).toBeDefined();
  });
});
