import { deadLettersContractTests } from '@call-webhooks/contract-tests';
import { sqliteDeadLetters } from '../src/index.ts';
import { eachClient, freshFile } from './support.ts';

eachClient((client) => {
  deadLettersContractTests({
    name: `sqliteDeadLetters on ${client.name}, four connections`,
    open() {
      const { file, remove } = freshFile();
      const handles = Array.from({ length: 4 }, () => client.open(file));
      let ahead = 0;
      const now = () => Date.now() + ahead;
      const [deadLetters, ...others] = handles.map((handle) => sqliteDeadLetters(handle, { now }));
      return Promise.resolve({
        deadLetters: deadLetters!,
        others,
        advance: (ms) => void (ahead += ms),
        close() {
          for (const handle of handles) handle.close();
          remove();
          return Promise.resolve();
        },
      });
    },
  });
});
