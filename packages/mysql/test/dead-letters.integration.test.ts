import * as runner from '@jest/globals';
import { deadLettersContractTests } from '@call-webhooks/store-tests';
import { openTestDeadLetters, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

withMysql('mysqlDeadLetters', () => {
  const test = useMysql();

  deadLettersContractTests(runner, { name: 'a pool', open: () => openTestDeadLetters(test.pool) });
});
