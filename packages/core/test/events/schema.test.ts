import { describe, expect, it } from '@jest/globals';
import { originsOf } from '../../src/errors.ts';
import { validate } from '../../src/events/schema.ts';
import type { WebhookError } from '../../src/index.ts';

const ISSUES = [
  { message: 'must be longer' },
  { message: 'expected number', path: ['customer', { key: 'age' }] },
];
const schema = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: ISSUES }) },
} as const;

const refusal = async (includeValues: boolean) => {
  const refused: unknown = await validate(schema, {}, 'call:new', includeValues).catch(
    (error: unknown) => error,
  );
  return refused as WebhookError;
};

describe('a payload that does not match its schema', () => {
  it('is refused with all issues in one sentence, each with its path if it has one', async () => {
    expect(await refusal(true)).toMatchObject({
      message:
        'The payload does not match its schema: must be longer; customer.age: expected number.',
      issues: [
        { path: '', message: 'must be longer' },
        { path: 'customer.age', message: 'expected number' },
      ],
    });
    expect((await refusal(false)).message).toBe(
      'The payload does not match its schema: must be longer; [key].[key]: expected number.',
    );
  });

  it('gives onError an error of the same code, with the issues of the schema as its cause', async () => {
    expect(originsOf(await refusal(false))).toMatchObject([
      { source: 'schema', error: { code: 'invalid-payload', cause: ISSUES } },
    ]);
  });
});
