import { join } from 'node:path';
import { test } from '@jest/globals';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { runSample } from '@call-webhooks/contract-tests';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { testResources } from '../test-resources.ts';

const own = testResources();

test('the sample of docs/status.md says that events arrive', async () => {
  const file = join(await own.folder(), 'calls.db');
  const secret = generateSecret();
  const receiver = createReceiver({
    ...{ secret, store: sqliteStore(own.add(new Database(file))) },
    on: { 'call:completed': () => undefined },
  });
  const body = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId: 'c1' }));
  await receiver.receive({ headers: await sign({ secret, body }), body });
  await receiver.close();
  const sample = runSample({
    ...{ test: import.meta.url, document: '../../../../../docs/status.md', block: 1 },
    then: 'await report();',
    replace: { "'calls.db'": JSON.stringify(file) },
  });
  await sample.printed('`call:completed` is arriving.');
  await sample.end();
}, 60_000);

test('its program shows a rotation in simulated time: too early to tell, and then what needs attention', async () => {
  const sample = runSample({
    ...{ test: import.meta.url, document: '../../../../../docs/status.md', block: 2 },
  });
  await sample.printed('`call:completed` is arriving.');
  await sample.printed('failed verification since');
  await sample.printed('1 thing needs attention: `call:completed` cannot be verified.');
  await sample.end();
}, 60_000);
