import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { createNodeHandler } from '@call-webhooks/core/node';
import { certificate } from './support/certificate.ts';
import { fill, logger, setup } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run, start } from './support/run.ts';

const env = { CALL_WEBHOOK_SECRET: SECRET };
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A receiver with a certificate that nobody trusts, or without TLS. @returns its port */
async function receiver(hasTls: boolean): Promise<number> {
  const hook = createNodeHandler({ secret: SECRET, logger, onUnhandled: () => undefined });
  const listener: Parameters<typeof createServer>[1] = (request, response) =>
    void hook(request, response);
  const server = hasTls ? createTlsServer(certificate(), listener) : createServer(listener);
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const COMMANDS = [
  ['check'],
  ['check', '--deep', '--only', 'headers'],
  ['send', 'call:started'],
] as const;

describeWithProgram('openssl', 'a receiver with TLS of its own', () => {
  test.each(COMMANDS)('%s %s is exit code 3 with a fix, and --insecure is one', async (...argv) => {
    const url = `https://127.0.0.1:${String(await receiver(true))}/hook`;
    const { code, stdout, stderr } = await run([...argv, '--to', url], { env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain('The certificate is not trusted');
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect((await run([...argv, '--to', url, '--insecure'], { env })).code).toBe(0);
  });

  test('doctor, listen and redrive say so, and accept it with --insecure', async () => {
    const url = `https://127.0.0.1:${String(await receiver(true))}/hook`;
    const doctor = await run(['doctor', '--to', url], { env });
    expect(doctor.stdout).toMatch(/^bad +receiver +The certificate is not trusted/m);
    const trusting = await run(['doctor', '--to', url, '--insecure'], { env });
    expect(trusting.stdout).toMatch(/^ok +receiver/m);
    expect(trusting.stdout).toMatch(
      /^ok +unknown path +A request to \/hook-typo results in \d{3}\.$/m,
    );

    for (const [flags, code] of [
      [[], 1],
      [['--insecure'], 0],
    ] as const) {
      const listener = start(['listen', '--port', '0', '--json', '-f', url, ...flags], { env });
      await listener.until('"ready"');
      const [to = ''] = /http:[^"]+/.exec(listener.stdout()) ?? [];
      expect((await run(['send', 'call:started', '--to', to], { env })).code).toBe(code);
      listener.stop();
      await listener.code;
    }

    const made = await setup();
    await fill(made, 1);
    const redrive = ['dead-letters', 'redrive', '--all', '--to', url];
    const refused = await run(redrive, made);
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.stderr).toContain('The certificate is not trusted');
    expect((await run([...redrive, '--insecure'], made)).code).toBe(0);
  });

  test.each(COMMANDS)('%s %s says that a port has no TLS', async (...argv) => {
    const url = `https://127.0.0.1:${String(await receiver(false))}/hook`;
    const { code, stderr } = await run([...argv, '--to', url], { env });
    expect(code).toBe(3);
    expect(stderr).toContain('use http:// in the URL');
  });

  test('http:// to a port with TLS: the fix names https://', async () => {
    const url = `http://127.0.0.1:${String(await receiver(true))}/hook`;
    const { code, stderr } = await run(['check', '--to', url], { env });
    expect(code).toBe(3);
    expect(stderr).toContain('use https:// in the URL');
  });
});
