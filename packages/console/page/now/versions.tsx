import { shortMinute } from '@call-webhooks/ui';
import { Fragment } from 'preact';
import type { AppVersion } from '../../src/api-types.ts';
import { Link, When } from '../parts/cells.tsx';

/** Where the versions of the app began, among the places of a chart. */
export const marksOf = (
  versions: readonly AppVersion[],
  points: readonly { readonly at: number }[],
  step: number,
): { at: number; name: string }[] =>
  versions.flatMap(({ version, since }) => {
    const at = points.findIndex((point) => since >= point.at && since < point.at + step);
    return at < 0 ? [] : [{ at, name: `Version ${version}, since ${shortMinute(since)}` }];
  });

/** The versions of the app, with a filter for each. */
export const Versions = ({ versions }: { readonly versions: readonly AppVersion[] }) =>
  versions.length === 0 ? null : (
    <p class="hint">
      App versions, marked in the charts:{' '}
      {versions.map(({ version, since }, index) => (
        <Fragment key={version}>
          {index > 0 && ', '}
          <Link to="deliveries" query={{ version }}>
            {version}
          </Link>{' '}
          since <When at={since} />
        </Fragment>
      ))}
      .
    </p>
  );
