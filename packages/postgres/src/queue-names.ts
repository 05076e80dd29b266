import { option } from '@call-webhooks/core/internal';

export const DEFAULT_QUEUE = 'call-webhooks';
export const deadLetterName = (queue: string) => `${queue}-dead`;

/** A rule for the name of a queue. */
export const queueName = () => option.text(/^.{1,200}$/su, 'expected the name of a queue');

/** A rule for the schema of pg-boss. */
export const schemaName = () =>
  option.default(
    option.text(/^[a-z_]\w{0,49}$/i, 'expected the name of a schema, without quotes'),
    'pgboss',
  );
