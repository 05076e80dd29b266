import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { THIS_VERSION } from '../src/checkout.ts';
import { HTTP, listen, withBefore, type HttpName } from '../src/contenders.ts';
import { BODY_BYTES, signedMessages, signedRequests } from '../src/deliveries.ts';
import { counted } from '../src/http/shared.ts';
import { checkResponse } from '../src/runners.ts';
import { Sender } from '../src/sender.ts';
import { VERIFY, type VerifyName } from '../src/verify.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  jest.restoreAllMocks();
});

async function senderTo(name: HttpName): Promise<Sender> {
  const server = await listen(name, THIS_VERSION);
  if (!server.listening) await once(server, 'listening');
  const sender = await Sender.open((server.address() as AddressInfo).port, 2);
  stops.push(() => {
    sender.close();
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return sender;
}

// The contenders of Next need a built app. Every run of the benchmark checks them as here.
const built = (Object.keys(HTTP) as HttpName[]).filter((name) => !name.startsWith('next'));

describe.each(built)('%s', (name) => {
  it('sends the common response, and handles each delivery once', async () => {
    const [first, ...rest] = signedRequests(HTTP[name].scheme, 41);
    const before = counted.handled;
    const sender = await senderTo(name);
    checkResponse(name, await sender.probe(first!));
    await sender.run(rest);
    expect(counted.handled - before).toBe(41);
  });
});

describe('the sender', () => {
  it('reports a server that refuses', async () => {
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const sender = await senderTo('node + call-webhooks');
    const [request] = signedRequests('service', 1);
    await sender.probe(request!);
    await expect(sender.run([request!])).rejects.toThrow('409');
  });

  it('reports contenders that respond something else', () => {
    const response = { status: 200, contentType: 'application/json', body: '{}' };
    expect(() => checkResponse('node + call-webhooks', response)).toThrow(
      'node + call-webhooks responds',
    );
    expect(() => checkResponse('express + octokit', response)).not.toThrow();
  });
});

const verifying = (Object.keys(VERIFY) as VerifyName[]).filter((name) => !name.includes('floor'));

describe.each(verifying)('verify by %s', (name) => {
  const outcome = async (body?: Buffer) => {
    const verify = await VERIFY[name].load(THIS_VERSION);
    const [message] = signedMessages(VERIFY[name].scheme, 1);
    expect(message!.body).toHaveLength(BODY_BYTES);
    return (await verify({ ...message!, ...(body && { body }) })) !== false;
  };

  it('accepts an authentic message', async () => {
    expect(await outcome()).toBe(true);
  });

  it('refuses a different body', async () => {
    const other = Buffer.alloc(BODY_BYTES, 'x');
    expect(await outcome(other).catch(() => false)).toBe(false);
  });
});

describe('the version before', () => {
  it('is measured right after each contender of ours, if there is one', () => {
    const names = ['node bare', 'node + call-webhooks'] as const;
    expect(withBefore(names, undefined)).toEqual(names);
    expect(withBefore(names, '/before')).toEqual([...names, 'node + call-webhooks, before']);
    const added = ['node + call-webhooks oneAtATime'] as const; // which that version does not have
    expect(withBefore(added, '/before')).toEqual(added);
  });
});
