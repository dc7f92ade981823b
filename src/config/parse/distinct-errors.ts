/** An error reported by the schema library. */
export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: object;
}

/**
 * For an `anyOf`, reports only the errors in the branch that the user meant. If that branch can't be determined, lists
 * the alternatives once.
 */
export function distinct(errors: readonly SchemaError[]): SchemaError[] {
  const forks = errors.filter(isFork);
  return errors.filter((error) => {
    if (['if', 'additionalProperties', 'propertyNames'].includes(error.keyword)) return false;
    if (forks.includes(error)) return meantBranch(error, errors) === undefined;
    return forks.every((fork) => {
      const branch = branchOf(error, fork);
      return branch === undefined || branch === meantBranch(fork, errors);
    });
  });
}

function isFork({ keyword }: SchemaError): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

/**
 * The `anyOf` branch that an error belongs to. If the same schema applies to another value, that value has its own
 * branches.
 */
function branchOf(error: SchemaError, fork: SchemaError): string | undefined {
  if (!`${error.instancePath}/`.startsWith(`${fork.instancePath}/`)) return undefined;
  const prefix = `${fork.schemaPath}/${fork.keyword}/`;
  return error.schemaPath.startsWith(prefix) ? error.schemaPath.slice(prefix.length).split('/')[0] : undefined;
}

/**
 * Returns the only branch whose type and constants match the value. If several branches match, returns the only one
 * whose required fields are all present.
 */
function meantBranch(fork: SchemaError, errors: readonly SchemaError[]): string | undefined {
  const inside = errors.flatMap((error) => {
    const branch = branchOf(error, fork);
    return branch === undefined ? [] : [{ branch, error }];
  });
  const without = (isOther: (error: SchemaError) => boolean): string[] => {
    const others = new Set(inside.filter(({ error }) => isOther(error)).map(({ branch }) => branch));
    return [...new Set(inside.map(({ branch }) => branch))].filter((branch) => !others.has(branch));
  };
  const deeper = inside.flatMap(({ error }) => (isFork(error) ? [error] : []));
  // A nested `anyOf` reports its own errors.
  const isMisfit = (error: SchemaError): boolean =>
    (error.keyword === 'const' && deeper.every((other) => branchOf(error, other) === undefined)) ||
    (['type', 'enum'].includes(error.keyword) && error.instancePath === fork.instancePath);
  const fitting = without(isMisfit);
  if (fitting.length === 1) return fitting[0];
  const complete = without((error) => isMisfit(error) || error.keyword === 'required');
  return complete.length === 1 ? complete[0] : undefined;
}
