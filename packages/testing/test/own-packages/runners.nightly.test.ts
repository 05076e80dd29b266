import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compile } from '@call-webhooks/contract-tests/compile';
import { userProject, type UserProject } from './user-project.ts';

const JEST = 'node_modules/jest/bin/jest.js';
const VITEST = 'node_modules/vitest/vitest.mjs';
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const guide = readFileSync(new URL('../../../../docs/testing.md', import.meta.url), 'utf8');
const samples = (text: string) =>
  [...text.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, code = '']) => code);
const [sample = ''] = samples(readme);

const IMPORTS = {
  esm: `import express from 'express';
import { callWebhooks } from '@call-webhooks/express';
import { callCompleted, deliver, deliverTwice, forged, TEST_SECRET } from '@call-webhooks/testing';`,
  cjs: `const express = require('express');
const { callWebhooks } = require('@call-webhooks/express');
const { callCompleted, deliver, deliverTwice, forged, TEST_SECRET } = require('@call-webhooks/testing');`,
};

/** What a user of Express would write. */
const TESTS = `
const handle = mock.fn();
const app = express();
const on = { 'call:completed': handle };
app.all('/hook', callWebhooks({ secret: TEST_SECRET, logger: { warn() {}, error() {} }, on }));

it('my handler runs once, and a duplicate does not', async () => {
  const [first, second] = await deliverTwice(app, callCompleted());
  expect([first.outcome, second.outcome]).toEqual(['handled', 'duplicate']);
  expect(handle).toHaveBeenCalledTimes(1);
});

it('a forgery does not run it', async () => {
  expect(await forged(app, callCompleted())).toMatchObject({ status: 401 });
  expect(handle).toHaveBeenCalledTimes(1);
});

it('a failure is answered 500', async () => {
  handle.mockRejectedValueOnce(new Error('the CRM is down'));
  expect(await deliver(app, callCompleted())).toMatchObject({ status: 500 });
});
`;

it('the sample of the README has no errors of types', () => {
  const folder = fileURLToPath(new URL('.samples/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = `${folder}readme.ts`;
  writeFileSync(file, sample);
  expect(compile([file]).get(file)).toEqual([]);
});

let project: UserProject | undefined;
afterEach(() => {
  project?.remove();
});

describe('the tests of a user', () => {
  it('pass in Jest, as CommonJS', async () => {
    project = await userProject(
      'commonjs',
      { 'hook.test.js': `${IMPORTS.cjs}\nconst mock = jest;${TESTS}` },
      ['express', 'jest'],
    );
    expect(await project.run(JEST)).toMatchObject({
      code: 0,
      output: passed('Tests: +3 passed, 3 total'),
    });
  });

  it('pass in Jest, as ESM, also those of the guide', async () => {
    project = await userProject(
      'module',
      {
        'hook.test.js': `import { expect, it, jest as mock } from '@jest/globals';\n${IMPORTS.esm}${TESTS}`,
        // None of them uses more of TypeScript than JavaScript has.
        ...Object.fromEntries(
          samples(guide).map((code, index) => [
            `guide-${String(index)}.test.js`,
            code.replaceAll(': unknown[]', ''),
          ]),
        ),
        'jest.config.js': 'export default { transform: {} };',
      },
      ['express', 'jest', '@jest/globals', 'supertest'],
    );
    const result = await project.run(JEST, '--experimental-vm-modules');
    expect(result).toMatchObject({ code: 0, output: passed('Tests: +6 passed, 6 total') });
  });

  it('pass in Vitest, also the one of the README', async () => {
    project = await userProject(
      'module',
      {
        'hook.test.ts': `import { expect, it, vi as mock } from 'vitest';\n${IMPORTS.esm}${TESTS}`,
        'readme.test.ts': sample,
      },
      ['express', 'vitest'],
    );
    const result = await project.run(VITEST, 'run');
    expect(result).toMatchObject({ code: 0, output: passed('Tests +4 passed \\(4\\)') });
  });

  it("pass in a project of Jest's jsdom, with the line that the guide names", async () => {
    const [line] = /\/\*\* @jest-environment node \*\//.exec(guide) ?? [];
    project = await userProject(
      'commonjs',
      {
        'hook.test.js': `${String(line)}\n${IMPORTS.cjs}\nconst mock = jest;${TESTS}`,
        'page.test.js': `${IMPORTS.cjs}
it('imports the app', () => expect([typeof callWebhooks, typeof deliver]).toEqual(['function', 'function']));`,
        'jest.config.js': "module.exports = { testEnvironment: 'jsdom' };",
      },
      ['express', 'jest', 'jest-environment-jsdom'],
    );
    expect(await project.run(JEST)).toMatchObject({
      code: 0,
      output: passed('Tests: +4 passed, 4 total'),
    });
  });

  it("pass with Vitest's fake timers", async () => {
    project = await userProject(
      'module',
      {
        'hook.test.ts': `import { afterEach, beforeEach, expect, it, vi as mock } from 'vitest';
${IMPORTS.esm}
beforeEach(() => void mock.useFakeTimers({ now: Date.UTC(2040, 0, 2) }));
afterEach(() => void mock.useRealTimers());
${TESTS}`,
      },
      ['express', 'vitest'],
    );
    const result = await project.run(VITEST, 'run');
    expect(result).toMatchObject({ code: 0, output: passed('Tests +3 passed \\(3\\)') });
  });

  it('pass as CommonJS where nock lets no request out', async () => {
    const intercepting = `const nock = require('nock');
beforeAll(() => nock.disableNetConnect());
afterAll(() => nock.restore());`;
    project = await userProject(
      'commonjs',
      { 'hook.test.js': `${IMPORTS.cjs}\nconst mock = jest;\n${intercepting}\n${TESTS}` },
      ['express', 'jest', 'nock'],
    );
    expect(await project.run(JEST)).toMatchObject({
      code: 0,
      output: passed('Tests: +3 passed, 3 total'),
    });
  });

  // Jest itself cannot require MSW, a part of which is ESM only. Node can.
  it('deliver as CommonJS where MSW lets no request out', async () => {
    const program = `${IMPORTS.cjs}
const { setupServer } = require('msw/node');
const server = setupServer();
server.listen({ onUnhandledRequest: 'error' });
const on = { 'call:completed': () => undefined };
const app = express().all('/hook', callWebhooks({ secret: TEST_SECRET, on }));
deliver(app, callCompleted()).then(({ outcome }) => {
  console.log(outcome);
  server.close();
});`;
    project = await userProject('commonjs', { 'deliver.js': program }, ['express', 'msw']);
    expect(await project.run('deliver.js')).toEqual({ code: 0, output: 'handled\n' });
  });

  it('fail where a handler runs twice', async () => {
    const twice = TESTS.replace(
      'deliverTwice(app, callCompleted())',
      'Promise.all([1, 2].map(() => deliver(app, callCompleted())))',
    );
    project = await userProject(
      'commonjs',
      { 'hook.test.js': `${IMPORTS.cjs}\nconst mock = jest;${twice}` },
      ['express', 'jest'],
    );
    expect((await project.run(JEST)).code).toBe(1);
  });
});

const passed = (summary: string) => expect.stringMatching(summary) as unknown as string;
