import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { run } from './support/run.ts';

const TOKEN = 'token-of-the-simulator';
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ apiToken: TOKEN, clock: 'manual', seed: 7, pageSize: 2 });
  for (const subject of ['first', 'second', 'third']) {
    const { _id } = simulator.messages.send({ subject, to: 'ada@example.com' });
    simulator.messages.record(_id, { action: 'opened' });
  }
});
afterAll(() => simulator.close());

describe('without the URL of a service', () => {
  test('the running simulator is asked, whose API token needs no flag', async () => {
    const named = await run(['events', '--all', '--json', '--simulator', simulator.url]);
    expect(named.records()).toHaveLength(3);
    const found = await run(['events', '--json'], {
      env: { CALL_WEBHOOKS_SIMULATOR: simulator.url },
    });
    expect(found.records()).toHaveLength(2);
    const rather = await run(['calls', '--simulator', simulator.url], {
      env: { CALL_WEBHOOKS_BASE_URL: 'http://127.0.0.1:1', CALL_WEBHOOKS_API_TOKEN: TOKEN },
    });
    expect(rather).toMatchObject({ code: 0, stderr: expect.stringContaining('No calls found') });
  });

  test('and without a simulator, both ways out are named', async () => {
    const env = { CALL_WEBHOOKS_SIMULATOR: 'http://127.0.0.1:1' };
    const { code, stderr } = await run(['calls'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("The service's URL is not given. No simulator is running at");
    expect(stderr).toContain('Set CALL_WEBHOOKS_BASE_URL, pass --base-url, or start a simulator');
  });
});
