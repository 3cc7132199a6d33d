import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Client } from "@connectrpc/connect";
import type { RecordFilterSchema, RecordSummary, RecordsService } from "./gen/scaar/v1/records_pb.js";

/** Client of a service of records: a method for each call of the contract. */
export type RecordsClient = Client<typeof RecordsService>;

/** Yield the columns of all records that match the filter, newest first, page by page. */
export async function* recordSummaries(
  client: RecordsClient,
  filter: MessageInitShape<typeof RecordFilterSchema> = {},
  { pageSize = 1000, ...options }: CallOptions & { pageSize?: number } = {},
): AsyncGenerator<RecordSummary, void, undefined> {
  let pageToken = "";
  do {
    const page = await client.listRecords({ filter, pageSize, pageToken }, options);
    yield* page.records;
    pageToken = page.nextPageToken;
  } while (pageToken);
}
