import type { ComponentChildren } from 'preact';

/** A column of a table. */
export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the end. */
  readonly align?: 'end';
  /** Left out where the table has little room, but not so little that rows become blocks. */
  readonly minor?: boolean;
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The key of the selected row. */
  readonly selected?: string | undefined;
  /** Called when a row is clicked. A link in one of its cells does the same for the keyboard. */
  readonly onOpen?: (row: Row) => void;
  /** Shown in place of the rows when there are none. */
  readonly empty?: ComponentChildren;
}

/**
 * A table. Where there is little room, each row becomes a block with the names of the columns beside
 * its cells.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf, selected, onOpen, empty } = props;
  if (rows.length === 0 && empty !== undefined) return <p class="none">{empty}</p>;
  return (
    <div class="table-area">
      <table class="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, align, minor }) => (
              <th key={name} scope="col" data-align={align} data-minor={minor}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              aria-current={keyOf(row) === selected ? 'true' : undefined}
              onClick={(event) => {
                if (isOfRow(event)) onOpen?.(row);
              }}
            >
              {columns.map(({ name, cell, align, minor }) => (
                <td key={name} data-column={name} data-align={align} data-minor={minor}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Not a click that means something in the row, and not the end of a selection of text. */
const isOfRow = ({ target }: MouseEvent): boolean =>
  target instanceof Element &&
  target.closest('a, button, input, label') === null &&
  getSelection()?.isCollapsed !== false;

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
  /** `facts` by default. */
  readonly class?: string;
}

/** A list of facts. Those without a value are left out. */
export const Facts = ({ facts, class: classes = 'facts' }: FactsProps) => (
  <dl class={classes}>
    {facts
      .filter(
        ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
      )
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
