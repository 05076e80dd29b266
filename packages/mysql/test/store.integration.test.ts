import { storeContractTests } from '@call-webhooks/store-tests';
import { openTestStore, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

withMysql('mysqlStore', () => {
  const test = useMysql();

  storeContractTests({
    name: 'a pool of mysql2/promise',
    open: () => openTestStore(test.pool),
    without: ['log'],
  });
});
