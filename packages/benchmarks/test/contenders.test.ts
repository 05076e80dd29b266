import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { HTTP, VERIFY, type HttpName, type VerifyName } from '../src/contenders.ts';
import { counted } from '../src/http/answer.ts';
import { checkAnswers } from '../src/running/answers.ts';
import { BODY_BYTES } from '../src/sending/payload.ts';
import { signedRequests } from '../src/sending/requests.ts';
import { Sender } from '../src/sending/sender.ts';
import { signedMessages } from '../src/verify/signed-message.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  jest.restoreAllMocks();
});

async function senderTo(name: HttpName): Promise<Sender> {
  const server = await (await HTTP[name].load()).listen();
  if (!server.listening) await once(server, 'listening');
  const sender = await Sender.open((server.address() as AddressInfo).port, 2);
  stops.push(() => {
    sender.close();
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return sender;
}

// Those of Next need their app built; every run of the benchmark checks them as it does here.
const built = (Object.keys(HTTP) as HttpName[]).filter((name) => !name.startsWith('next'));

describe.each(built)('%s', (name) => {
  it('gives the answer of all, and handles each delivery once', async () => {
    const [first, ...rest] = signedRequests(HTTP[name].scheme, 41);
    const before = counted.handled;
    const sender = await senderTo(name);
    const answer = await sender.probe(first!);
    checkAnswers({ [name]: { answer } });
    await sender.run(rest);
    expect(counted.handled - before).toBe(41);
  });
});

describe('the sender', () => {
  it('reports a server that refuses', async () => {
    jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const sender = await senderTo('node ours');
    const [request] = signedRequests('service', 1);
    await sender.probe(request!);
    await expect(sender.run([request!])).rejects.toThrow('409');
  });

  it('reports contenders that answer something else', () => {
    const answer = { status: 200, contentType: 'application/json', body: '{}' };
    expect(() => checkAnswers({ 'node ours': { answer } })).toThrow('node ours answers');
    expect(() => checkAnswers({ 'express + octokit': { answer } })).not.toThrow();
  });
});

const verifying = (Object.keys(VERIFY) as VerifyName[]).filter((name) => !name.includes('floor'));

describe.each(verifying)('verify by %s', (name) => {
  const outcome = async (body?: Buffer) => {
    const { verify } = await VERIFY[name].load();
    const [message] = signedMessages(VERIFY[name].scheme, 1);
    expect(message!.body).toHaveLength(BODY_BYTES);
    return (await verify({ ...message!, ...(body && { body }) })) !== false;
  };

  it('takes an honest message', async () => {
    expect(await outcome()).toBe(true);
  });

  it('refuses another body', async () => {
    const other = Buffer.alloc(BODY_BYTES, 'x');
    expect(await outcome(other).catch(() => false)).toBe(false);
  });
});
