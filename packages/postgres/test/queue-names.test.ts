import { describe, expect, it } from '@jest/globals';
import { checkOptions } from '@call-webhooks/core/internal';
import { deadLetterName, queueName, schemaName } from '../src/queue-names.ts';

const queue = (name: unknown) => checkOptions('it', { queue: queueName() }, { queue: name }).queue;
const schema = (name?: string) => checkOptions('it', { schema: schemaName() }, { schema: name });

describe('the name of a queue', () => {
  it('of dead jobs ends in -dead', () => {
    expect(deadLetterName('calls')).toBe('calls-dead');
  });

  it.each(['c', 'calls of the CRM', 'two\nlines', 'x'.repeat(200), '😀'.repeat(200)])(
    'may be %j',
    (name) => {
      expect(queue(name)).toBe(name);
    },
  );

  it.each(['', 'x'.repeat(201), 5, null])('may not be %j', (name) => {
    expect(() => queue(name)).toThrow(
      'Invalid options of it: queue: expected the name of a queue.',
    );
  });
});

describe('the schema of pg-boss', () => {
  it('is pgboss by default', () => {
    expect(schema()).toEqual({ schema: 'pgboss' });
  });

  it.each(['a', '_', 'A1_', 'x'.repeat(50)])('may be %j', (name) => {
    expect(schema(name)).toEqual({ schema: name });
  });

  it.each(['', '1a', 'a b', 'a"', "a'", '"a', ' a', 'a.b', 'ä', 'x'.repeat(51)])(
    'may not be %j, which would need quotes',
    (name) => {
      expect(() => schema(name)).toThrow(
        'Invalid options of it: schema: expected the name of a schema, without quotes.',
      );
    },
  );
});
