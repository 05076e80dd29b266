import { describe, expect, it } from '@jest/globals';
import { postgresDeadLetters, postgresStore } from '../src/index.ts';
import { recordingClient } from './recording-client.ts';

const { client } = recordingClient();
const rememberFor = 'rememberFor: expected whole milliseconds from 600000 to 315360000000';
const schema = 'schema: expected up to 63 lower-case letters, digits and _';

describe('a store in Postgres', () => {
  it.each([
    [undefined, 86_400_000],
    [600_000, 600_000],
    [315_360_000_000, 315_360_000_000],
  ])('remembers events for a day, or as long as it is told: %p', (given, known) => {
    expect(postgresStore(client, { rememberFor: given }).rememberFor).toBe(known);
  });

  it.each<[object, string]>([
    [{ rememberFor: 599_999 }, rememberFor],
    [{ schema: 'a"b' }, schema],
    [{ now: 5 }, 'now: expected a function'],
    [{ logger: {} }, 'logger: expected an object with warn, error'],
    [{ logger: { warn: () => 1 } }, 'logger: expected an object with warn, error'],
    [{ logger: { error: () => 1 } }, 'logger: expected an object with warn, error'],
    [{ client }, 'there is no option "client"'],
  ])('says which option is wrong, and what it expects (%#)', (options, mistake) => {
    expect(() => postgresStore(client, options)).toThrow(
      `Invalid options of postgresStore: ${mistake}.`,
    );
  });

  it('needs no more of a logger than two methods', () => {
    const logger = { warn: () => 1, error: () => 1 };
    expect(() => postgresStore(client, { logger })).not.toThrow();
  });

  it('says which client is none', () => {
    expect(() => postgresStore({} as never)).toThrow(
      'Invalid client of postgresStore: expected one with query(text, values)',
    );
  });
});

describe('dead letters in Postgres', () => {
  it('say which option and which client is wrong', () => {
    expect(() => postgresDeadLetters(client, { schema: 'a"b' })).toThrow(
      `Invalid options of postgresDeadLetters: ${schema}.`,
    );
    expect(() => postgresDeadLetters({} as never)).toThrow(
      'Invalid client of postgresDeadLetters: expected one with query(text, values)',
    );
  });
});
