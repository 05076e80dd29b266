import { Table } from '@call-webhooks/ui';
import type { SecretUse } from '../../src/api-types.ts';
import { count } from '../model/format.ts';
import { Section } from '../parts/section.tsx';
import { Ago } from '../parts/when.tsx';

/** Which secret verified what, and when last. After a rotation, the old one stops here. */
export const SecretsSection = ({ secrets }: { readonly secrets: readonly SecretUse[] }) => (
  <Section title="Secrets">
    <Table
      label="Secrets"
      rows={secrets}
      keyOf={({ secretId, tenant }) => `${tenant ?? ''} ${secretId}`}
      empty="No secret has verified a delivery yet. Each one that does is listed here by a fingerprint, never by its value."
      columns={[
        { name: 'Secret', cell: ({ secretId }) => <code>{secretId}</code> },
        ...(secrets.some(({ tenant }) => tenant !== null)
          ? [{ name: 'Tenant', cell: ({ tenant }: SecretUse) => tenant ?? '' }]
          : []),
        { name: 'Verified', align: 'end', cell: ({ verified }) => count(verified) },
        { name: 'Last event', cell: ({ lastEventName }) => lastEventName ?? 'unknown' },
        { name: 'Last', cell: ({ lastAt }) => <Ago at={lastAt} /> },
      ]}
    />
    {secrets.length > 0 && (
      <p class="hint">
        After a rotation, the old secret verifies only what was signed before. Remove it once it no
        longer verifies anything.
      </p>
    )}
  </Section>
);
