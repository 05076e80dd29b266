import { describe, expect, it } from '@jest/globals';
import type { ErrorInfo, SecretProvider } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { createTestReceiver, Lines, NOW, SECONDS, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const boom = new Error('no');
const on = { 'call:started': () => Promise.reject(boom) };

/** An `onError`, and what it was called with. */
function setup() {
  const errors: unknown[] = [];
  const infos: ErrorInfo[] = [];
  const onError = (error: unknown, info: ErrorInfo) => {
    errors.push(error);
    infos.push(info);
  };
  return { errors, infos, onError };
}

describe('what onError is told of an error', () => {
  it('names the tenant', async () => {
    const { infos, onError } = setup();
    const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
    await createTenantsReceiver({ secret, on, onError }).send('acme', STARTED);
    expect(infos).toMatchObject([{ tenant: 'acme', callId: 'call-1', attempt: 1 }]);
  });

  it('is only what is known', async () => {
    const { infos, onError } = setup();
    const { send } = createTestReceiver({ secret: () => Promise.reject(boom), onError });
    expect(await send(STARTED)).toBe('secret-unavailable');
    const flags = { lastAttempt: false, late: false, queued: false };
    expect(infos).toStrictEqual([{ code: 'secret-unavailable', source: 'secret', ...flags }]);
  });

  it('says whether it happened in a worker', async () => {
    const { infos, onError } = setup();
    const process = createJobProcessor({ on, onError, logger: new Lines() });
    const body = Buffer.from(JSON.stringify(STARTED)).toString('base64');
    await process({ webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW, body });
    await createTestReceiver({ on, onError }).send(STARTED);
    expect(infos.map(({ queued }) => queued)).toEqual([true, false]);
  });
});

describe('onOutcome', () => {
  it('may be left out: onError is told of no other error for it', async () => {
    const { errors, onError } = setup();
    await createTestReceiver({ on, onError, onOutcome: undefined }).send(STARTED);
    expect(errors).toEqual([boom]);
  });
});
