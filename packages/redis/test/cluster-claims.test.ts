import { describe, expect, it, jest } from '@jest/globals';
import type { Claim } from '@call-webhooks/core/stores';
import { redisStore } from '../src/index.ts';

const [ID, EVENT, GROUP] = ['p:{w}:id', 'p:{e}:event', 'p:{g}:group'];
const CLAIM = { webhookId: 'w', key: 'e', token: 'token', leaseMs: 60_000, replayUntil: 1_000 };
const ADMITTED = { status: 'admitted', attempt: 1 };
const TAKE = [GROUP, 'takeGroup', 'token', '70000'];
const FREE = [GROUP, 'freeGroup', 'token'];
const EXTEND = [GROUP, 'extendGroup', 'token', '70000'];
const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";

/**
 * A store on a cluster that has each key in a slot of its own. Each call for a key gets its next reply,
 * or 1; a reply that is an error is thrown.
 */
function clusterStore(replies: Record<string, unknown[]> = {}, refusal = CROSSSLOT) {
  const calls: string[][] = [];
  const evalsha = jest.fn(async (_sha: string, keys: string[], args: string[]) => {
    const [name, ...rest] = args[1]!.split('\n') as [string, ...string[]];
    calls.push([...keys, name, ...(keys[0] === GROUP ? rest : [])]);
    if (keys.length > 1) throw new Error(refusal);
    const reply = replies[keys[0]!]?.shift() ?? 1;
    if (reply instanceof Error) throw reply;
    return [reply];
  });
  const client = { evalsha, eval: () => Promise.resolve('') };
  const store = redisStore(client, { prefix: 'p' });
  const admit = (more: Partial<Claim> = {}) => store.admit({ ...CLAIM, ...more });
  return { store, admit, calls };
}

describe('a claim on a cluster, which has the webhook id and the event in two slots', () => {
  const REMEMBER = [ID, 'remember'];
  const ADMIT = [EVENT, 'admit'];

  it('remembers the id first, and so from then on', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit()).toEqual(ADMITTED);
    expect(calls).toEqual([[ID, EVENT, 'claim'], REMEMBER, ADMIT]);
    expect(await admit()).toEqual(ADMITTED);
    expect(calls.slice(3)).toEqual([REMEMBER, ADMIT]);
  });

  it('does not touch the event of a webhook id that was seen', async () => {
    const { admit, calls } = clusterStore({ [ID]: [-2] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'replayed' });
    expect(calls.slice(1)).toEqual([REMEMBER]);
  });

  it('fails if a step fails, and may be repeated', async () => {
    const down = new Error('CLUSTERDOWN');
    const { admit, calls } = clusterStore({ [ID]: [down, 1, 1], [EVENT]: [down, 1] });
    await expect(admit()).rejects.toThrow(down);
    await expect(admit()).rejects.toThrow(down);
    expect(await admit()).toEqual(ADMITTED);
    expect(calls.slice(1)).toEqual([REMEMBER, REMEMBER, ADMIT, REMEMBER, ADMIT]);
  });

  it('fails if the server gives a reply that the script never gives', async () => {
    const { admit, calls } = clusterStore({ [ID]: ['OK'] });
    await expect(admit()).rejects.toThrow('never gives');
    expect(calls.slice(1)).toEqual([REMEMBER]);
  });
});

describe('a group on a cluster, which has it in another slot than its event', () => {
  const calledAfterId = (calls: string[][]) => calls.slice(2);

  it('is leased before the event, and for 10 s longer', async () => {
    const { admit, calls } = clusterStore();
    expect(await admit({ group: 'g' })).toEqual(ADMITTED);
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it('may be out of reach although the id and the event share a slot', async () => {
    const { admit, calls } = clusterStore({}, 'ERR Script attempted to access a non local key');
    expect(await admit({ group: 'g' })).toEqual(ADMITTED);
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it('is left to its holder, and the event is told so', async () => {
    const { admit, calls } = clusterStore({ [GROUP]: [0], [EVENT]: [-4] });
    expect(await admit({ group: 'g' })).toEqual({ status: 'group-busy' });
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit']]);
  });

  it.each([
    [0, 'duplicate'],
    [-1, 'in-progress'],
  ])('is freed if the event is not admitted: %d', async (reply, status) => {
    const { admit, calls } = clusterStore({ [EVENT]: [reply] });
    expect(await admit({ group: 'g' })).toEqual({ status });
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit'], FREE]);
  });

  it('is freed if the call for the event fails', async () => {
    const { admit, calls } = clusterStore({ [EVENT]: [new Error('down')] });
    await expect(admit({ group: 'g' })).rejects.toThrow('down');
    expect(calledAfterId(calls)).toEqual([TAKE, [EVENT, 'admit'], FREE]);
  });

  it('is freed and extended by the name that the script of the event gives', async () => {
    const { store, calls } = clusterStore({ [EVENT]: [GROUP, GROUP, GROUP] });
    expect(await store.complete('e', 'token')).toBe(true);
    expect(await store.release('e', 'token')).toBe(true);
    expect(await store.extend('e', 'token', 60_000)).toBe(true);
    expect(calls.filter(([key]) => key === GROUP)).toEqual([FREE, FREE, EXTEND]);
  });

  it('that can not be freed runs out: the event is settled all the same', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP, GROUP], [GROUP]: [0, new Error('down')] });
    expect(await store.complete('e', 'token')).toBe(true);
    expect(await store.complete('e', 'token')).toBe(true);
  });

  it('that is not held any more can not be extended', async () => {
    const { store } = clusterStore({ [EVENT]: [GROUP, GROUP], [GROUP]: [0, new Error('down')] });
    expect(await store.extend('e', 'token', 60_000)).toBe(false);
    await expect(store.extend('e', 'token', 60_000)).rejects.toThrow('down');
  });

  it.each(['1', '0'])('is not meant by a reply of a text: %s', async (reply) => {
    const { store, calls } = clusterStore({ [EVENT]: [reply, reply] });
    expect(await store.complete('e', 'token')).toBe(reply === '1');
    expect(await store.extend('e', 'token', 60_000)).toBe(reply === '1');
    expect(calls.filter(([key]) => key === GROUP)).toEqual([]);
  });
});
