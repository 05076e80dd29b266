import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import openapiTS, { astToString } from 'openapi-typescript';
import { compile } from '@call-webhooks/contract-tests/compile';

const OPENAPI = new URL('../../openapi.json', import.meta.url);
const SAMPLES = fileURLToPath(new URL('.samples/', import.meta.url));
mkdirSync(SAMPLES, { recursive: true });
const folder = mkdtempSync(join(SAMPLES, 'stubs-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const PAIRS = [
  ...['CallStarted', 'CallCompleted', 'CallRecordingAvailable'].map(
    (name) => [name, `Sent<core.${name}Event>`] as const,
  ),
  ...['Opened', 'Clicked', 'Downloaded'].map(
    (name) => [`${name}Event`, `client.${name}Event`] as const,
  ),
  ...Object.entries({
    Unopened: 'unopened',
    Replied: 'replied',
    MeetingConfirmed: 'meetinginvites:confirmed',
    PollVoted: 'poll:voted',
  }).map(
    ([name, action]) =>
      [`${name}Event`, `client.PlainEvent & { readonly action: '${action}' }`] as const,
  ),
];

/** `true` is assignable to each constant only if the two types are assignable both ways. */
const SAME = `
import type * as core from '@call-webhooks/core';
import type * as client from '@call-webhooks/client';
import type { components } from './openapi.ts';
type Schemas = components['schemas'];
/** An event as it may be sent: core makes undefined of null. */
type Sent<Event> = { [Field in keyof Event]: Event[Field] | (Field extends 'eventName' ? never : null) };
type BothWays<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Same<A, B> = BothWays<A, B> extends true ? BothWays<keyof A, keyof B> : false;
${PAIRS.map(([schema, type]) => `export const ${schema}: Same<Schemas['${schema}'], ${type}> = true;`).join('\n')}
`;

const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './openapi.ts';

const client = createClient<paths>({
  baseUrl: 'https://api.example.com',
  headers: { 'X-API-Token': 'token' },
});
const { data } = await client.GET('/v1/events', { params: { query: { search: 'type:replied' } } });
export const subjects: string[] = data?.results.map(({ subject }) => subject) ?? [];
await client.PATCH('/v1/rules/{id}/actions/{actionId}', {
  params: { path: { id: 'r1', actionId: 'a1' } },
  body: { rotateSigningSecret: true },
});
await client.GET('/v1/calls/{id}/recording', { params: { path: { id: 'c1' } }, parseAs: 'stream' });
await client.POST('/v1/rules/{id}/actions', { params: { path: { id: 'r1' } }, body: { url: 'https://…' } });
await client.GET('/v1/calls');
`;

const SERVER = `
import type { webhooks } from './openapi.ts';
type BodyOf<Name extends keyof webhooks> =
  webhooks[Name]['post']['requestBody']['content']['application/json'];
type Handlers = { [Name in keyof webhooks]: (body: BodyOf<Name>) => void };
export const handlers: Handlers = {
  'call:started': (event) => console.log(event.callId?.length),
  'call:completed': (event) => console.log(event.callId?.length),
  'call:recording-available': (event) => console.log(event.recordingDurationSeconds?.toFixed()),
  'custom-payload': (payload) => console.log(payload),
};
`;

/** A program beside the generated types, with one change in the program or in the types. */
interface Variant {
  readonly program: string;
  readonly immutable?: true;
  readonly in?: 'program' | 'types';
  readonly change?: readonly [text: string | RegExp, other: string];
}

const same = { program: SAME, immutable: true } as const;
const CORRECT: Record<string, Variant> = {
  'types that are assignable to those of core and the client, and these to them': same,
  'a client of openapi-fetch': { program: CLIENT },
  'a server with handlers for the webhooks': { program: SERVER },
};
const WRONG: Record<string, Variant> = {
  'a field of another type': {
    ...same,
    change: ['readonly callId?: string | null', 'readonly callId?: number | null'],
  },
  'a field less': { ...same, change: [/readonly userId\?: .*/, ''] },
  'a field that is required': { ...same, change: ['readonly eventId?: ', 'readonly eventId: '] },
  'another name of an action': { ...same, change: ['"poll:voted"', '"poll:closed"'] },
  'a client with an unknown path': {
    program: CLIENT,
    in: 'program',
    change: ["'/v1/calls')", "'/v1/colls')"],
  },
  'a client with another type of body': {
    program: CLIENT,
    in: 'program',
    change: ['rotateSigningSecret: true', 'rotateSigningSecret: 1'],
  },
  'a server with another type of field': {
    program: SERVER,
    in: 'program',
    change: ['.toFixed()', '.trim()'],
  },
  'a server without a handler': {
    program: SERVER,
    in: 'program',
    change: [/.*'call:started'.*\n/, ''],
  },
};

describe('with the types that openapi-typescript generates', () => {
  const errors = new Map<string, string[]>();

  beforeAll(async () => {
    const generate = async (immutable: boolean) =>
      astToString(await openapiTS(OPENAPI, { immutable }));
    const [mutable, immutable] = [await generate(false), await generate(true)];
    const variants = Object.entries({ ...CORRECT, ...WRONG });
    const files = variants.map(([name, variant]) => {
      const own = mkdtempSync(join(folder, 'program-'));
      const texts = {
        program: variant.program,
        types: variant.immutable ? immutable : mutable,
      };
      if (variant.change) {
        const part = variant.in ?? 'types';
        const changed = texts[part].replace(...variant.change);
        if (changed === texts[part]) throw new Error(`${name}: nothing to change`);
        texts[part] = changed;
      }
      writeFileSync(join(own, 'openapi.ts'), texts.types);
      writeFileSync(join(own, 'program.ts'), texts.program);
      return join(own, 'program.ts');
    });
    const found = compile(files);
    for (const [at, [name]] of variants.entries()) errors.set(name, found.get(files[at]!)!);
  });

  it.each(Object.keys(CORRECT))('%s: compiles', (name) => {
    expect(errors.get(name)).toEqual([]);
  });

  it.each(Object.keys(WRONG))('%s: does not compile', (name) => {
    expect(errors.get(name)).not.toEqual([]);
  });
});

describe('a server', () => {
  it('is generated by openapi-glue, as a plugin of Fastify whose files have no errors', () => {
    const glue = createRequire(import.meta.url).resolve('fastify-openapi-glue');
    const generator = join(glue, '../bin/openapi-glue-cli.js');
    execFileSync(process.execPath, [generator, '-b', folder, '-p', 'glue', fileURLToPath(OPENAPI)]);
    for (const file of ['index.js', 'service.js', 'security.js'])
      execFileSync(process.execPath, ['--check', join(folder, 'glue', file)]);
    const service = readFileSync(join(folder, 'glue/service.js'), 'utf8');
    for (const operation of ['listEvents', 'listCalls', 'createAction', 'rotateSigningSecret'])
      expect(service).toContain(`async ${operation}(`);
  });
});
