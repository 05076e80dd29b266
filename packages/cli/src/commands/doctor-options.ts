import type { Command } from 'commander';
import { withFieldNameOption } from '../input/fields.ts';
import { repeatable } from '../input/options.ts';
import { type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { type ReceiverOptions, withReceiverOptions } from '../input/target.ts';
import { durationOption } from '../input/time.ts';
import { type ServiceOptions, withServiceOptions } from '../service/client.ts';
import { type StoreOptions, withStoreOptions } from '../store/open-store.ts';

/** The flags of `doctor`. */
export interface DoctorOptions
  extends StoreOptions, SecretOptions, ReceiverOptions, ServiceOptions {
  readonly to?: readonly string[];
  readonly capture?: string;
  readonly fieldName?: readonly string[];
  readonly headerPrefix?: string;
  readonly tenant?: string;
  readonly timeout: number;
}

const RECEIVERS_NAMES = "the receiver's fieldNames, such as placedBy=owner; repeatable";

/** Adds the flags of {@link DoctorOptions}. */
export const withDoctorOptions = (command: Command): Command =>
  withStoreOptions(
    withServiceOptions(
      withReceiverOptions(withSecretOptions(withFieldNameOption(command, RECEIVERS_NAMES))),
    ),
  )
    .option(
      '--to <url>',
      'the URL of the running receiver; 3000/hook means http://127.0.0.1:3000/hook; repeatable, for several processes',
      repeatable,
    )
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .option('--tenant <name>', 'check only the dead letters and the status of this tenant')
    .option('--capture <file>', 'captured deliveries, the output of listen --json')
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait for each response', 10_000),
    );
