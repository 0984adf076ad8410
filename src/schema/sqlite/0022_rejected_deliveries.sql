-- Deliveries that failed verification are counted as what the list of them is called.
update delivery_counts set verdict = 'rejected' where verdict = 'refused';
