import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { certificate } from '../../../cli/test/support/certificate.ts';
import { oneEvent } from '../support/one-event.ts';
import { testResources } from '../support/test-resources.ts';

const open = testResources();

describeWithProgram('openssl', 'a receiver with a certificate that nobody trusts', () => {
  async function deliverWith(tlsOf: (cert: string) => object) {
    const { key, cert } = certificate();
    const server = createServer({ key, cert }, (request, response) => {
      request.resume().on('end', () => response.end());
    });
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    open.add({
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    const options = { tls: tlsOf(cert), maxAttempts: 2 };
    const { simulator, ruleId, rule } = await oneEvent(open, 200, options);
    const [action] = rule().actions;
    const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`;
    simulator.rules.updateAction(ruleId, action!._id, { url });
    simulator.calls.start();
    await simulator.events.settled();
    return simulator.events.list().at(-1)!.attempts[0]!.response;
  }

  test('is refused by default', async () => {
    expect(await deliverWith(() => ({}))).toEqual({
      kind: 'connection-error',
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });

  test('is accepted with its certificate, or without the check', async () => {
    const accepted = { kind: 'status', status: 200 };
    expect(await deliverWith((ca) => ({ ca }))).toMatchObject(accepted);
    expect(await deliverWith(() => ({ rejectUnauthorized: false }))).toMatchObject(accepted);
  });
});
