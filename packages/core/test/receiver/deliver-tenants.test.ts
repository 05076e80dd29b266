import { describe, expect, it } from '@jest/globals';
import {
  memoryDeadLetters,
  memoryStore,
  type SecretProvider,
  type Store,
} from '../../src/index.ts';
import { STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const secret: SecretProvider = ({ tenant }) => secretOf(tenant);
const on = { 'call:started': () => undefined };

describe('a receiver with tenants', () => {
  it('names the tenant in dead letters, and runs them again as its own', async () => {
    const deadLetter = memoryDeadLetters();
    let isDown = true;
    const runs: (string | undefined)[] = [];
    const { receiver, send } = createTenantsReceiver({
      secret,
      deadLetter,
      maxAttempts: 1,
      on: {
        'call:started': (_event, { tenant }) => {
          runs.push(tenant);
          if (isDown) throw new Error('down');
        },
      },
    });
    for (const tenant of ['a', 'b']) {
      expect(await send(tenant, STARTED)).toBe('dead-lettered');
      expect(await send(tenant, new Uint8Array([0]), { webhookId: 'same' })).toBe('dead-lettered');
    }
    const { letters } = await deadLetter.list();
    const tenants = letters.map(({ tenant, reason }) => `${String(tenant)} ${reason}`).sort();
    expect(tenants).toEqual([
      'a handler-failed',
      'a invalid-payload',
      'b handler-failed',
      'b invalid-payload',
    ]);
    isDown = false;
    const letter = letters.find(({ tenant, key }) => tenant === 'b' && key !== undefined)!;
    expect(await receiver.deliver(letter)).toMatchObject({ outcome: 'handled', tenant: 'b' });
    expect(runs).toEqual(['a', 'b', 'b']);
    expect(await send('b', STARTED)).toBe('duplicate');
    expect(await send('a', STARTED)).toBe('in-dead-letters');
  });

  it('takes events of a tenant that is named, and no others', async () => {
    const memory = memoryStore();
    const webhookIds: string[] = [];
    const store: Store = {
      ...memory,
      admit(claim) {
        webhookIds.push(claim.webhookId);
        return memory.admit(claim);
      },
    };
    const { receiver, send } = createTenantsReceiver({ secret, on, store });
    expect(await receiver.deliver(STARTED, { tenant: 'a' })).toMatchObject({
      outcome: 'handled',
      tenant: 'a',
      key: 'tenant:a:call-1:call:started',
    });
    expect(await send('a', STARTED)).toBe('duplicate');
    expect(await send('b', STARTED)).toBe('handled');
    expect(webhookIds.map((id) => id.slice(0, 9))).toEqual(['tenant:a:', 'tenant:a:', 'tenant:b:']);
    await expect(receiver.deliver(STARTED)).rejects.toThrow('Say whose event it is');
    await expect(receiver.deliver(STARTED, { tenant: '' })).rejects.toThrow('1 to 128');
  });
});
