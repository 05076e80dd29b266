import { expect, test } from '@jest/globals';
import { receiver } from './support/receiver.ts';
import { run } from './support/run.ts';

test('a list prints what it has read before a page fails', async () => {
  const service = await receiver(({ url }) =>
    new URL(url, 'http://service').searchParams.has('next')
      ? { status: 403 }
      : {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ results: [{ _id: 'call-1' }], next: 'page-2', hasNext: true }),
        },
  );
  const env = { CALL_WEBHOOKS_BASE_URL: new URL(service.url).origin, CALL_WEBHOOKS_API_TOKEN: 't' };
  try {
    const { code, stdout, stderr } = await run(['calls', '--all'], { env });
    expect(stdout).toMatch(/^_id.*\ncall-1/);
    expect(code).toBe(2);
    expect(stderr).toContain('error: ');
  } finally {
    await service.close();
  }
});
