import { describe, expect, it } from '@jest/globals';
import { migrationSql } from '../src/index.ts';

const TABLES = ['webhook_ids', 'events', 'groups', 'cursors', 'dead_letters'];

describe('the statement of a migration', () => {
  it.each([
    [undefined, 'call_webhooks'],
    ['mine', 'mine'],
  ])('creates all tables in their schema: %p is %s', (schema, name) => {
    const text = schema === undefined ? migrationSql() : migrationSql({ schema });
    expect(text).toContain(`CREATE SCHEMA ${name};`);
    for (const table of TABLES) expect(text).toContain(`CREATE TABLE ${name}.${table} (`);
    expect(text).toContain(
      `pg_advisory_xact_lock(hashtext('call-webhooks migrate'), hashtext('${name}'))`,
    );
  });

  it('is one statement, to be atomic with every client', () => {
    expect(migrationSql()).toMatch(/^DO \$migration\$\nBEGIN\n[^]*END\n\$migration\$$/);
    expect(migrationSql().split('$migration$')).toHaveLength(3);
  });

  it.each(['a', '_1', 'x'.repeat(63)])('may be of schema %s', (schema) => {
    expect(migrationSql({ schema })).toContain(`CREATE SCHEMA ${schema};`);
  });

  it.each(['', '1a', 'Calls', 'aB', 'a b', 'a"b', "a'", ' a', 'a;', 'x'.repeat(64)])(
    'may not be of schema %j, which would need quotes',
    (schema) => {
      expect(() => migrationSql({ schema })).toThrow(
        'Invalid options of migrationSql: schema: expected up to 63 lower-case letters, digits and _.',
      );
    },
  );
});
