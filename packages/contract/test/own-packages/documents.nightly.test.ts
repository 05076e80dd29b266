import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readJson } from '../read-vectors.ts';
import { brokenReferences } from './references.ts';

interface Document {
  [field: string]: unknown;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
const openapi = readJson('openapi.json') as Document;
const EVENTS = { CallStarted: 'call-started', CallCompleted: 'call-completed' };
const RECORDING = { CallRecordingAvailable: 'call-recording-available' };

describe('openapi.json', () => {
  const check = async (document: object) =>
    new Validator().validate(structuredClone(document) as Record<string, unknown>);

  it('is OpenAPI 3.1', async () => {
    expect(await check(openapi)).toEqual({ valid: true });
    expect(brokenReferences(openapi)).toEqual([]);
  });

  it.each([
    ['no title', { info: { version: '1' } }],
    ['a webhook that is none', { webhooks: { 'call:started': { post: 1 } } }],
    [
      'an unknown place of a parameter',
      { components: { parameters: { A: { in: 'x', name: 'a' } } } },
    ],
  ])('would not be with %s', async (_what, change) => {
    expect((await check({ ...openapi, ...change })).valid).toBe(false);
  });

  it('has all events and endpoints, and no others', () => {
    expect(Object.keys(openapi['webhooks'] as object)).toEqual([
      'call:started',
      'call:completed',
      'call:recording-available',
      'custom-payload',
    ]);
    const paths = openapi['paths'] as Record<string, object>;
    expect(Object.entries(paths).map(([path, item]) => [path, ...Object.keys(item)])).toEqual([
      ['/v1/events', 'get'],
      ['/v1/calls', 'get'],
      ['/v1/calls/{id}/recording', 'get'],
      ['/v1/rules/{id}/actions', 'post'],
      ['/v1/rules/{id}/actions/{actionId}', 'patch'],
    ]);
  });
});

describe('the JSON Schemas', () => {
  it.each(Object.entries({ ...EVENTS, ...RECORDING }))(
    '%s is the same everywhere',
    (title, name) => {
      const { $schema, $id, examples, ...schema } = readJson(
        `schemas/${name}.schema.json`,
      ) as Record<string, unknown>;
      expect($schema).toBe('https://json-schema.org/draft/2020-12/schema');
      expect($id).toBe(`urn:call-webhooks:schema:1:${name}`);
      expect(openapi.components.schemas[title]).toEqual(schema);
      expect((readJson('schemas/event.schema.json') as { $defs: object }).$defs).toMatchObject({
        [title]: schema,
      });

      const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
      addFormats.default(ajv);
      const validate = ajv.compile(readJson(`schemas/${name}.schema.json`) as object);
      const any = ajv.compile(readJson('schemas/event.schema.json') as object);
      expect((examples as unknown[]).length).toBe(1);
      for (const example of examples as object[]) {
        expect([validate(example), any(example)]).toEqual([true, true]);
        expect(validate({ ...example, more: { of: ['anything'] } })).toBe(true);
        expect(validate({ ...example, eventName: 'call:other' })).toBe(false);
        expect(validate({ ...example, callId: 7 })).toBe(false);
      }
    },
  );
});
