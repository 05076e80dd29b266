import { VIEWS, type View } from '../model/place.ts';
import { count } from '../model/format.ts';
import { Link } from './link.tsx';

interface ViewsProps {
  readonly current: View;
  /** How many dead letters wait. */
  readonly waiting: number | undefined;
}

/** The links to the views. */
export const Views = ({ current, waiting = 0 }: ViewsProps) => (
  <nav class="views" aria-label="Views">
    <ul>
      {VIEWS.map(([view, title]) => (
        <li key={view}>
          <Link to={view} class="view-link" current={view === current}>
            {title}
            {view === 'dead-letters' && waiting > 0 && (
              <span class="tab-count" data-bad="">
                {count(waiting)}
                <span class="visually-hidden"> waiting</span>
              </span>
            )}
          </Link>
        </li>
      ))}
    </ul>
  </nav>
);
