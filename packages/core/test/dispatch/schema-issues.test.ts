import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Routes } from '../../src/dispatch/routes.ts';
import type { HandlerOptions } from '../../src/index.ts';
import { bytes } from '../support.ts';

const handler = () => undefined;
const find = async (payload: unknown, options: unknown = {}) =>
  new Routes(options as HandlerOptions).find(bytes(JSON.stringify(payload)));

describe('the issues of a schema', () => {
  it('never tells what a schema says of the values, nor the keys of a record', async () => {
    const record = { schema: z.object({ c: z.record(z.string(), z.number()) }), handle: handler };
    const throwing = z.object({ name: z.string() }).refine(({ name }) => {
      throw new Error(`bad name ${name}`);
    });
    const told: unknown[] = await Promise.all([
      find({ c: { 'Ada Lovelace': 'x' } }, { custom: record }).catch(String),
      find({ name: 'Ada Lovelace' }, { custom: { schema: throwing, handle: handler } }).catch(
        String,
      ),
    ]);
    expect(told).toContainEqual(expect.stringContaining('The schema failed'));
    expect(JSON.stringify(told)).not.toMatch(/Ada|Lovelace/);
  });

  it('tells what a schema objects to, with values only if they are asked for', async () => {
    const schema = z.object({
      name: z.literal('Bob', { error: ({ input }) => `not Bob: ${String(input)}` }),
    });
    const options = { events: { 'call:new': schema }, on: { 'call:new': handler } };
    const event = { eventName: 'call:new', name: 'Ada Lovelace' };
    await expect(find(event, options)).rejects.toMatchObject({
      eventName: 'call:new',
      message: 'The payload does not match its schema: name: not Bob: [redacted].',
      issues: [{ path: 'name', message: 'not Bob: [redacted]' }],
    });
    await expect(find(event, { ...options, includeSchemaValues: true })).rejects.toMatchObject({
      issues: [{ path: 'name', message: 'not Bob: Ada Lovelace' }],
    });
  });
});
