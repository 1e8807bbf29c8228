/** What the server makes of one tensor: the tuning guide, and where its fault began. */

import { queryOptions } from "@tanstack/react-query";
import { api, type JobView, type Schemas, take } from "./client";
import { placeParameters, type TensorPlace } from "./queries";

const KEPT = 60_000; // milliseconds

/** `moment` names the pause whose values are meant. */
export function guideQuery(job: JobView, place: TensorPlace, moment: string) {
  return queryOptions({
    queryKey: ["guide", place, moment, job.hits_revision],
    queryFn: ({ signal }): Promise<Schemas["GuideView"]> =>
      take(
        api.GET("/api/jobs/{job}/guide", {
          params: { path: { job: place.job }, query: placeParameters(place) },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}

/** `watchpoint`: whose hit is followed; null for whatever is wrong with the tensor. */
export function originQuery(job: JobView, place: TensorPlace, moment: string, watchpoint: number | null) {
  const only = watchpoint === null ? {} : { watchpoint };
  return queryOptions({
    queryKey: ["origin", place, moment, job.hits_revision, watchpoint],
    queryFn: ({ signal }): Promise<Schemas["OriginView"]> =>
      take(
        api.GET("/api/jobs/{job}/origin", {
          params: { path: { job: place.job }, query: { ...placeParameters(place), ...only } },
          signal,
        }),
      ),
    staleTime: Infinity,
    gcTime: KEPT,
  });
}
